// accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/update_op.h"

namespace sluice {

struct AdagradOptions {
  HyperParameter learning_rate = 0.01f;
  double initial_accumulator_value = 0.1;  // must be positive
  bool use_locking = false;
  std::string name = "Adagrad";
};

// Duchi et al. 2011. Slot "accumulator", saved as "<var>/Adagrad".
class Adagrad : public FusedOptimizer {
 public:
  explicit Adagrad(AdagradOptions options);

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyFused(const Grad& grad, const Variable& var) override;

 private:
  AdagradOptions options_;
  Output learning_rate_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
