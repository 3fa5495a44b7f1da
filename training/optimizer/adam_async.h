// Adam for asynchronous training: each variable has its own powers of beta1 and beta2.
//
//   Operation train = AdamAsync({.learning_rate = 1e-3f}).Minimize(loss, {.global_step = &step});
//
// Step t of Adam needs beta1^t and beta2^t. In the class Adam, all variables share one pair of
// these powers, on one server. Every update reads this pair, and every step changes it. In
// AdamAsync, the update of a variable reads and changes powers that are on the variable's own
// device.
//
// Thread safety: none, as for Optimizer. The graph owns the slots.
// Errors: those of Optimizer.
// Reference: AdamAsyncOptimizer of DeepRec.
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAM_ASYNC_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAM_ASYNC_H_

#include <string>
#include <vector>

#include "training/optimizer/rule_optimizer.h"

namespace sluice {

// Options of AdamAsync; see AdamOptions. The defaults are those of DeepRec.
struct AdamAsyncOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  // Whether variables with sparse gradients, and embedding tables, are updated by RMSProp with
  // momentum beta1. Unlike Adam, RMSProp does not multiply a gradient by 1 - beta1, so rows that
  // have few gradients take larger steps.
  bool apply_sparse_rmsprop = false;
  bool use_locking = false;
  std::string name = "AdamAsync";
};

// Computes Adam's formula (adam.h), in which t is the number of updates of the variable. If
// apply_sparse_rmsprop is true, the update for a sparse gradient is instead
//
//   v = beta2 * v + (1 - beta2) * gradient^2
//   m = beta1 * m + learning_rate * gradient / sqrt(v + epsilon);   var -= m
//
// Slots "m" and "v", saved as "<var>/AdamAsync" and "<var>/AdamAsync_1", and the scalar slots
// "beta1_power" and "beta2_power". A sparse gradient changes its own rows only.
class AdamAsync : public RuleOptimizer {
 public:
  explicit AdamAsync(const AdamAsyncOptions& options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  Operation ApplyToTable(const IndexedSlices& grad, const Variable& table) override;

 private:
  // Returns an op that runs `update`, then multiplies the variable's powers by beta1 and beta2.
  Operation ThenAdvance(const Variable& var, Operation update);

  const HyperParameter beta1_, beta2_;
  const bool apply_sparse_rmsprop_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAM_ASYNC_H_
