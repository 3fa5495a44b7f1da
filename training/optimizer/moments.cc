#include "training/optimizer/moments.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "ops/math/power_builders.h"
#include "ops/sugar.h"
#include "training/optimizer/slot.h"

namespace sluice {

void MomentOptimizer::CreateSlots(const std::vector<Variable>& vars) {
  const Variable& first =
      *std::min_element(vars.begin(), vars.end(),
                        [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  NonSlotVariable(beta1_, "beta1_power", first);
  NonSlotVariable(beta2_, "beta2_power", first);
  RuleOptimizer::CreateSlots(vars);
}

void MomentOptimizer::Prepare(Graph& graph) {
  RuleOptimizer::Prepare(graph);
  for (const char* power : {"beta1_power", "beta2_power"}) {
    SetScalar(power, GetNonSlotVariable(power, graph).value_or(Variable()));
  }
}

MomentOptimizer::Numbers MomentOptimizer::NumbersFor(const Variable& var) const {
  Numbers n;
  n.beta1_power = Typed("beta1_power", var);
  n.beta2_power = Typed("beta2_power", var);
  n.learning_rate = Typed("lr", var).tensor;
  n.beta1 = Typed("beta1", var).tensor;
  n.beta2 = Typed("beta2", var).tensor;
  n.epsilon = Typed("epsilon", var).tensor;
  return n;
}

Output MomentOptimizer::CorrectedRate(const Numbers& n) {
  const Output second = Sqrt(1 - n.beta2_power);
  const Output rate = n.learning_rate * second;
  return rate / (1 - n.beta1_power);
}

Output MomentOptimizer::NextFirstMoment(const Grad& grad, const Variable& var, const Numbers& n) {
  return DecayAndAdd(Slot(var, "m"), n.beta1, grad);
}

Output MomentOptimizer::NextSecondMoment(const Grad& grad, const Variable& var, const Numbers& n) {
  const Output values = ValuesOf(grad);
  return DecayAndAdd(Slot(var, "v"), n.beta2, WithValues(grad, values * values));
}

Output MomentOptimizer::DecayAndAdd(const Variable& slot, Output decay, const Grad& grad) {
  const AssignOptions how = {.use_locking = use_locking()};
  const Output rest = 1 - decay;
  if (grad.is_dense()) {
    const Output added = grad.dense() * rest;
    return ValueAfter(slot, slot.Assign(slot * decay + added, how));
  }
  const Output rows = grad.slices().values * rest;
  const Operation shrunk = WithValueRead(slot, slot.Assign(slot * decay, how));
  ControlDependencies decayed(slot.graph(), {shrunk});
  return ValueAfter(slot, slot.ScatterAdd(grad.slices().indices, rows, how));
}

Operation MomentOptimizer::Finish(Graph& graph, const std::vector<Operation>& updates,
                                  std::string_view name) {
  const AssignOptions how = {.use_locking = use_locking()};
  std::vector<Operation> all = updates;
  {
    ControlDependencies after(graph, updates);
    const Variable beta1_power = scalar("beta1_power").variable;
    const Variable beta2_power = scalar("beta2_power").variable;
    ColocateWith with(graph, beta1_power.op());
    const Output next1 = beta1_power * scalar("beta1").tensor;
    all.push_back(WithValueRead(beta1_power, beta1_power.Assign(next1, how)));
    const Output next2 = beta2_power * scalar("beta2").tensor;
    all.push_back(WithValueRead(beta2_power, beta2_power.Assign(next2, how)));
  }
  return Group(graph, all, name);
}

}  // namespace sluice
