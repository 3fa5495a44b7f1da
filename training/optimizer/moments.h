// What Adam and its relatives share: two moments of the gradient a variable, and the powers of
// their decays, which undo the lean of moments that begin at 0 (Kingma and Ba 2014, section 3).
#ifndef SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_
#define SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_

#include <string>
#include <vector>

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/optimizer.h"
#include "training/optimizer/slot.h"
#include "training/optimizer/update_op.h"

namespace sluice {

// A hyper-parameter as the type of the variable that is updated. What is a variable of that type
// already is read by the op that uses it.
struct TypedNumber {
  Output tensor;
  Variable variable;
  operator Operand() const { return variable ? Operand(variable) : Operand(tensor); }  // NOLINT
};

class MomentOptimizer : public Optimizer {
 public:
  struct Numbers {
    HyperParameter learning_rate;
    HyperParameter beta1;
    HyperParameter beta2;
    HyperParameter epsilon;
  };
  MomentOptimizer(std::string name, bool use_locking, Numbers numbers);

 protected:
  // Slots "m" and "v", initially 0; variables beta1_power and beta2_power, one pair a graph, beside
  // the first variable by name, whichever order they come in.
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  // After all updates the powers are multiplied by their decays.
  Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                   std::string_view name) override;

  struct Typed {
    TypedNumber beta1_power, beta2_power;
    Output learning_rate, beta1, beta2, epsilon;
  };
  Typed NumbersFor(const Variable& var) const;
  // learning_rate * sqrt(1 - beta2_power) / (1 - beta1_power)
  Output CorrectedRate(const Typed& n) const;
  // The moments after this gradient; those of rows without gradient decay too, as if it were 0.
  Output NextFirstMoment(const Grad& grad, const Variable& var, const Typed& n);
  Output NextSecondMoment(const Grad& grad, const Variable& var, const Typed& n);
  // `slot` = slot * decay + (1 - decay) * grad; the new value.
  Output DecayAndAdd(const Variable& slot, Output decay, const Grad& grad);

  Variable BetaPower(int which, const Graph& graph) const;
  // Inputs beta1_power, beta2_power, learning_rate, beta1, beta2, epsilon of a fused op.
  UpdateOp& AddNumbers(UpdateOp& update, const Graph& graph) const;
  const Output& learning_rate() const { return learning_rate_; }

 private:
  Numbers numbers_;
  Output learning_rate_, beta1_, beta2_, epsilon_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_MOMENTS_H_
