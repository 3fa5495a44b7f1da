// accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

struct AdagradOptions {
  HyperParameter learning_rate = 0.01f;
  float initial_accumulator_value = 0.1f;  // must be positive
  bool use_locking = false;
  std::string name = "Adagrad";
};

// Duchi et al. 2011. Slot "accumulator", saved as "<var>/Adagrad".
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(AdagradOptions options);

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  AdagradOptions options_;
  Output learning_rate_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
