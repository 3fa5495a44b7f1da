// var -= learning_rate * gradient.
#ifndef SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
#define SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

struct GradientDescentOptions {
  HyperParameter learning_rate = 0.01f;
  bool use_locking = false;
  std::string name = "GradientDescent";
};

// No slots. Rows of sparse gradients are subtracted one by one, repeated ones too.
class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(GradientDescentOptions options);

 protected:
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  Operation ApplySparseDuplicateIndices(const IndexedSlices& grad, const Variable& var) override;

 private:
  GradientDescentOptions options_;
  Output learning_rate_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_GRADIENT_DESCENT_H_
