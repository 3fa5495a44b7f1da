// Optimizers whose step is larger if the gradient has the sign of its running mean (Bello et al.
// 2017, found by a search over update rules). A sparse gradient changes only its own rows.
//
//   Output fade = …;                         // falls from 1 to 0 with the global step
//   Operation train = PowerSign({.sign_decay = fade}).Minimize(loss, {.global_step = &step});
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: tf.contrib.opt.PowerSignOptimizer and AddSignOptimizer.
#ifndef SLUICE_TRAINING_OPTIMIZER_SIGN_H_
#define SLUICE_TRAINING_OPTIMIZER_SIGN_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of PowerSign. `beta` is the decay of the running mean, per step.
struct PowerSignOptions {
  HyperParameter learning_rate = 0.1f;
  // The factor of the step if the gradient and its running mean have the same sign. The default is
  // e. Its logarithm, which the update uses, is exactly 1 in float.
  double base = 2.718281828459045;
  HyperParameter beta = 0.9f;
  // Multiplies the exponent. May be a tensor that falls from 1 to 0 with the global step.
  HyperParameter sign_decay = 1.0f;
  bool use_locking = false;
  std::string name = "PowerSign";
};

// Options of AddSign; see PowerSignOptions. The learning rate is multiplied by `alpha`, plus
// sign_decay if the gradient and its running mean have the same sign, or minus sign_decay if they
// have opposite signs.
struct AddSignOptions {
  HyperParameter learning_rate = 0.1f;
  HyperParameter alpha = 1.0f;
  HyperParameter beta = 0.9f;
  HyperParameter sign_decay = 1.0f;
  bool use_locking = false;
  std::string name = "AddSign";
};

// The base class of both optimizers. It has the slot "m", saved as "<var>/<name>", and applies
// sparse gradients.
class SignOptimizer : public RuleOptimizer {
 protected:
  using RuleOptimizer::RuleOptimizer;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  // Returns the factor by which the learning rate is multiplied. `agreement` is
  // sign_decay * sign(gradient) * sign(m).
  virtual Output Factor(Output agreement, const Variable& var) const = 0;
};

// Computes var -= learning_rate * base ^ (sign_decay * sign(gradient) * sign(m)) * gradient, where
// m is the running mean of the gradient. With a sign_decay of 1, a step is multiplied by `base` if
// the signs are equal, and divided by it if they differ. Slot "m", saved as "<var>/PowerSign".
class PowerSign : public SignOptimizer {
 public:
  explicit PowerSign(const PowerSignOptions& options = {});

 protected:
  Output Factor(Output agreement, const Variable& var) const override;
};

// Computes var -= learning_rate * (alpha + sign_decay * sign(gradient) * sign(m)) * gradient, where
// m is the running mean of the gradient. By default a step has double length if the signs are
// equal, and length 0 if they differ. Slot "m", saved as "<var>/AddSign".
class AddSign : public SignOptimizer {
 public:
  explicit AddSign(const AddSignOptions& options = {});

 protected:
  Output Factor(Output agreement, const Variable& var) const override;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_SIGN_H_
