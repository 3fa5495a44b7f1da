// Plain gradient descent, and proximal gradient descent, which adds L1 and L2 penalties on the
// weights.
//
//   Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(loss);
//
// Thread safety: none, as for Optimizer.
// Ownership: there are no slots, so checkpoints contain nothing of the optimizer.
// Errors: those of Optimizer.
// Reference: tf.compat.v1.train.GradientDescentOptimizer and ProximalGradientDescentOptimizer.
#ifndef SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
#define SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of GradientDescent. The learning rate may be a tensor, such as a schedule.
struct GradientDescentOptions {
  HyperParameter learning_rate = 0.01f;
  // Whether updates of ref variables take a lock. Resource variables do not need it.
  bool use_locking = false;
  std::string name = "GradientDescent";
};

// Computes var -= learning_rate * gradient. The rows of a sparse gradient are subtracted one by
// one, also repeated ones. Other rows of the variable are not read.
class GradientDescent : public RuleOptimizer {
 public:
  explicit GradientDescent(const GradientDescentOptions& options);

 protected:
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var) override;
};

// Options of ProximalGradientDescent. The strengths scale the L1 and L2 penalties on the weights,
// and are at least 0.
struct ProximalGradientDescentOptions {
  HyperParameter learning_rate = 0.01f;
  HyperParameter l1_regularization_strength = 0.0f;
  HyperParameter l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "ProximalGradientDescent";
};

// Gradient descent followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009),
// which makes small weights exactly 0.
class ProximalGradientDescent : public RuleOptimizer {
 public:
  explicit ProximalGradientDescent(const ProximalGradientDescentOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
