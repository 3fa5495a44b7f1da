// accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation.
#ifndef SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
#define SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

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
class Momentum : public RuleOptimizer {
 public:
  explicit Momentum(const MomentumOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
