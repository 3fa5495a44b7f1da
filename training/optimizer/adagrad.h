// Adagrad and its relatives, which divide each step by the square root of the sum of all squared
// gradients so far.
//
//   Operation train = Adagrad({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
//
// Rows of embeddings that have had few gradients take larger steps, so these optimizers suit sparse
// features. A sparse gradient changes only its own rows of the variable and of the slots.
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer. INVALID_ARGUMENT if an initial value of an accumulator is not
// positive.
// Reference: tf.compat.v1.train.AdagradOptimizer and relatives. Duchi, Hazan and Singer 2011.
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_

#include <cstdint>
#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of Adagrad. The learning rate may be a tensor, such as a schedule.
struct AdagradOptions {
  HyperParameter learning_rate = 0.01f;
  // The value of the accumulator before the first step. Must be positive.
  double initial_accumulator_value = 0.1;
  // Whether updates of ref variables take a lock. Resource variables do not need it.
  bool use_locking = false;
  std::string name = "Adagrad";
};

// Adagrad (Duchi, Hazan and Singer 2011):
//
//   accumulator += gradient^2
//   var -= learning_rate * gradient / sqrt(accumulator)
//
// Slot "accumulator", saved as "<var>/Adagrad".
class Adagrad : public RuleOptimizer {
 public:
  explicit Adagrad(const AdagradOptions& options);
};

// Options of AdagradDA. The two strengths scale the L1 and L2 penalties on the weights.
struct AdagradDAOptions {
  HyperParameter learning_rate = 0.01f;
  // Required: the variable that counts the updates so far.
  Variable global_step;
  // Must be positive.
  double initial_gradient_squared_accumulator_value = 0.1;
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "AdagradDA";
};

// Adagrad with dual averaging, for sparse linear models (Duchi et al. 2011). Every step computes
// the variable anew from the sums of all gradients and the L1 and L2 penalties. So the initial
// value of a variable has no effect after the first step.
//
// Slots "gradient_accumulator" and "gradient_squared_accumulator", saved as "<var>/AdagradDA" and
// "<var>/AdagradDA_1". INVALID_ARGUMENT if global_step is not set.
class AdagradDA : public RuleOptimizer {
 public:
  explicit AdagradDA(const AdagradDAOptions& options);

 protected:
  void Prepare(Graph& graph) override;
  Scalars ScalarsFor(const Variable& var) const override;

 private:
  Variable global_step_;
  float l1_, l2_;
};

// Options of ProximalAdagrad. The two strengths scale the L1 and L2 penalties on the weights.
struct ProximalAdagradOptions {
  HyperParameter learning_rate = 0.01f;
  // Must be positive.
  double initial_accumulator_value = 0.1;
  HyperParameter l1_regularization_strength = 0.0f;
  HyperParameter l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "ProximalAdagrad";
};

// Adagrad followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009), which
// makes small weights exactly 0. Slot "accumulator", saved as "<var>/ProximalAdagrad".
class ProximalAdagrad : public RuleOptimizer {
 public:
  explicit ProximalAdagrad(const ProximalAdagradOptions& options);
};

// Options of AdagradDecay. The defaults are those of DeepRec.
struct AdagradDecayOptions {
  HyperParameter learning_rate = 0.01f;
  // Required: the variable that counts the updates so far.
  Variable global_step;
  // The accumulator's first value, and the least value to which it decays. Must be positive.
  double initial_accumulator_value = 0.1;
  // The interval of the decays, as a number of global steps. A decay multiplies the accumulator by
  // accumulator_decay_rate. Must be positive.
  int64_t accumulator_decay_step = 100'000;
  float accumulator_decay_rate = 0.9f;
  bool use_locking = false;
  std::string name = "AdagradDecay";
};

// Adagrad whose accumulator decays, so that the steps of long training do not become too small. If
// an element of the accumulator has decayed fewer than floor(global_step / accumulator_decay_step)
// times, an update first computes
//
//   accumulator = max(accumulator * accumulator_decay_rate, initial_accumulator_value)
//
// An element decays at most once per update. Slots "accumulator" and "accumulator_decay_power" (the
// number of decays), saved as "<var>/AdagradDecay" and "<var>/AdagradDecay_1". A sparse gradient
// changes only its own rows. INVALID_ARGUMENT if global_step is not set. Reference:
// AdagradDecayOptimizer of DeepRec.
class AdagradDecay : public RuleOptimizer {
 public:
  explicit AdagradDecay(const AdagradDecayOptions& options);

 protected:
  void Prepare(Graph& graph) override;
  Scalars ScalarsFor(const Variable& var) const override;

 private:
  Variable global_step_;
  int64_t decay_step_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
