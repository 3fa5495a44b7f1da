// Adagrad followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009).
#ifndef SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

struct ProximalAdagradOptions {
  HyperParameter learning_rate = 0.01f;
  double initial_accumulator_value = 0.1;  // must be positive
  HyperParameter l1_regularization_strength = 0.0f;
  HyperParameter l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "ProximalAdagrad";
};

// Slot "accumulator", saved as "<var>/ProximalAdagrad".
class ProximalAdagrad : public RuleOptimizer {
 public:
  explicit ProximalAdagrad(const ProximalAdagradOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_PROXIMAL_ADAGRAD_H_
