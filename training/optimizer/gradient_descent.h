// Gradient descent, also with an L1 and L2 penalty.
#ifndef SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
#define SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// var -= learning_rate * gradient.
struct GradientDescentOptions {
  HyperParameter learning_rate = 0.01f;
  bool use_locking = false;
  std::string name = "GradientDescent";
};

// No slots. The rows of a sparse gradient are subtracted one by one, also repeated ones.
class GradientDescent : public RuleOptimizer {
 public:
  explicit GradientDescent(const GradientDescentOptions& options);

 protected:
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var) override;
};

// Gradient descent followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009).
struct ProximalGradientDescentOptions {
  HyperParameter learning_rate = 0.01f;
  HyperParameter l1_regularization_strength = 0.0f;
  HyperParameter l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "ProximalGradientDescent";
};

// No slots.
class ProximalGradientDescent : public RuleOptimizer {
 public:
  explicit ProximalGradientDescent(const ProximalGradientDescentOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
