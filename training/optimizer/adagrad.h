// Adagrad and its relatives, which divide each step by the root of all squared gradients so far.
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_

#include <string>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// accumulator += gradient^2; var -= learning_rate * gradient / sqrt(accumulator) (Duchi et al.
// 2011).
struct AdagradOptions {
  HyperParameter learning_rate = 0.01f;
  double initial_accumulator_value = 0.1;  // must be positive
  bool use_locking = false;
  std::string name = "Adagrad";
};

// Slot "accumulator", saved as "<var>/Adagrad".
class Adagrad : public RuleOptimizer {
 public:
  explicit Adagrad(const AdagradOptions& options);
};

// Adagrad with dual averaging, for sparse linear models (Duchi et al. 2011).
struct AdagradDAOptions {
  HyperParameter learning_rate = 0.01f;
  Variable global_step;                                     // required; counts the updates from 0
  double initial_gradient_squared_accumulator_value = 0.1;  // must be positive
  float l1_regularization_strength = 0.0f;
  float l2_regularization_strength = 0.0f;
  bool use_locking = false;
  std::string name = "AdagradDA";
};

// Slots "gradient_accumulator" and "gradient_squared_accumulator", saved as "<var>/AdagradDA" and
// "<var>/AdagradDA_1".
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

// Adagrad followed by the proximal step of an L1 and L2 penalty (Duchi and Singer 2009).
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

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAGRAD_H_
