// Steps that are larger where the gradient has the sign of its running mean (Bello et al. 2017,
// found by a search over update rules).
#ifndef SLUICE_TRAINING_OPTIMIZER_SIGN_H_
#define SLUICE_TRAINING_OPTIMIZER_SIGN_H_

#include <string>
#include <vector>

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/update_op.h"

namespace sluice {

struct PowerSignOptions {
  HyperParameter learning_rate = 0.1f;
  double base = 2.718281828459045;  // e, whose logarithm is 1 in float too
  HyperParameter beta = 0.9f;
  // Multiplies the exponent; a tensor that falls from 1 to 0 with the global step.
  HyperParameter sign_decay = 1.0f;
  bool use_locking = false;
  std::string name = "PowerSign";
};

// var -= learning_rate * base ^ (sign_decay * sign(gradient) * sign(m)) * gradient. Slot "m", saved
// as
// "<var>/PowerSign". A sparse gradient moves its own rows only.
class PowerSign : public Optimizer {
 public:
  explicit PowerSign(PowerSignOptions options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  PowerSignOptions options_;
  Output learning_rate_, beta_, logbase_, sign_decay_;
};

struct AddSignOptions {
  HyperParameter learning_rate = 0.1f;
  HyperParameter alpha = 1.0f;
  HyperParameter beta = 0.9f;
  HyperParameter sign_decay = 1.0f;
  bool use_locking = false;
  std::string name = "AddSign";
};

// var -= learning_rate * (alpha + sign_decay * sign(gradient) * sign(m)) * gradient. Slot "m",
// saved as "<var>/AddSign".
class AddSign : public Optimizer {
 public:
  explicit AddSign(AddSignOptions options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;

 private:
  AddSignOptions options_;
  Output learning_rate_, beta_, alpha_, sign_decay_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_SIGN_H_
