// Gradient descent with momentum.
//
//   Momentum momentum({.learning_rate = 0.1f, .momentum = 0.9f, .use_nesterov = true});
//   Operation train = momentum.Minimize(loss, {.global_step = &step});
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: tf.compat.v1.train.MomentumOptimizer.
#ifndef SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
#define SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of Momentum. The learning rate and the momentum may be tensors, such as schedules.
struct MomentumOptions {
  HyperParameter learning_rate = 0.01f;
  HyperParameter momentum = 0.9f;

  // Nesterov's momentum (Sutskever et al. 2013): the gradient counts as if taken after the momentum
  // step.
  bool use_nesterov = false;
  bool use_locking = false;
  std::string name = "Momentum";
};

// Gradient descent along a decaying sum of gradients:
//
//   accumulation = momentum * accumulation + gradient
//   var -= learning_rate * accumulation
//
// Slot "momentum", saved as "<var>/Momentum", initially 0. A sparse gradient changes its own rows
// only: the accumulation of other rows does not decay.
class Momentum : public RuleOptimizer {
 public:
  explicit Momentum(const MomentumOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_MOMENTUM_H_
