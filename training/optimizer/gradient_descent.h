// var -= learning_rate * gradient.
#ifndef SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
#define SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

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

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
