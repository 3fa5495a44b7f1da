// Adagrad followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009).
#ifndef SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_

#include <string>
#include <vector>

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/update_op.h"

namespace sluice {

struct ProximalAdagradOptions {
  HyperParameter learning_rate = 0.01f;
  double initial_accumulator_value = 0.1;  // positive
  HyperParameter l1_regularization_strength = 0.0f;
  HyperParameter l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "ProximalAdagrad";
};

// Slot "accumulator", saved as "<var>/ProximalAdagrad".
class ProximalAdagrad : public FusedOptimizer {
 public:
  explicit ProximalAdagrad(ProximalAdagradOptions options);

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyFused(const Grad& grad, const Variable& var) override;

 private:
  ProximalAdagradOptions options_;
  Output learning_rate_;
  Output l1_;
  Output l2_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_
