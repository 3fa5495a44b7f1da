// Gradient descent followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009).
#ifndef SLUICE_TRAINING_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT_H_
#define SLUICE_TRAINING_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

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

#endif  // SLUICE_TRAINING_OPTIMIZER_PROXIMAL_GRADIENT_DESCENT_H_
