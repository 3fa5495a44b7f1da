// accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.
#ifndef SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
#define SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/update_op.h"

namespace sluice {

struct MomentumOptions {
  HyperParameter learning_rate = 0.01f;
  HyperParameter momentum = 0.9f;
  // Sutskever et al. 2013: the gradient is taken after the momentum step.
  bool use_nesterov = false;
  bool use_locking = false;
  std::string name = "Momentum";
};

// Slot "momentum", saved as "<var>/Momentum", initially 0.
class Momentum : public FusedOptimizer {
 public:
  explicit Momentum(MomentumOptions options);

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyFused(const Grad& grad, const Variable& var) override;

 private:
  MomentumOptions options_;
  Output learning_rate_;
  Output momentum_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
