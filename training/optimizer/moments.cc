#include "training/optimizer/moments.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

TypedNumber AsType(const Variable& value, DataType dtype) {
  if (value.dtype() == dtype) return {.tensor = {}, .variable = value};
  NameScope scope(value.graph(), "Cast");
  return {.tensor = Cast(value.Read(), dtype, {.name = scope.prefix()}), .variable = {}};
}

}  // namespace

MomentOptimizer::MomentOptimizer(std::string name, bool use_locking, Numbers numbers)
    : Optimizer(std::move(name), use_locking), numbers_(std::move(numbers)) {}

void MomentOptimizer::CreateSlots(const std::vector<Variable>& vars) {
  const Variable& first =
      *std::min_element(vars.begin(), vars.end(),
                        [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  NonSlotVariable(numbers_.beta1, "beta1_power", first);
  NonSlotVariable(numbers_.beta2, "beta2_power", first);
  for (const Variable& var : vars) {
    ZerosSlot(var, "m", name());
    ZerosSlot(var, "v", name());
  }
}

void MomentOptimizer::Prepare(Graph& graph) {
  learning_rate_ = numbers_.learning_rate.In(graph, "learning_rate");
  beta1_ = numbers_.beta1.In(graph, "beta1");
  beta2_ = numbers_.beta2.In(graph, "beta2");
  epsilon_ = numbers_.epsilon.In(graph, "epsilon");
}

Variable MomentOptimizer::BetaPower(int which, const Graph& graph) const {
  return GetNonSlotVariable(which == 1 ? "beta1_power" : "beta2_power", graph).value_or(Variable());
}

UpdateOp& MomentOptimizer::AddNumbers(UpdateOp& update, const Graph& graph) const {
  return update.Number(BetaPower(1, graph))
      .Number(BetaPower(2, graph))
      .Number(learning_rate_)
      .Number(beta1_)
      .Number(beta2_)
      .Number(epsilon_);
}

MomentOptimizer::Typed MomentOptimizer::NumbersFor(const Variable& var) const {
  Typed n;
  n.beta1_power = AsType(BetaPower(1, var.graph()), var.dtype());
  n.beta2_power = AsType(BetaPower(2, var.graph()), var.dtype());
  n.learning_rate = CastTo(learning_rate_, var);
  n.beta1 = CastTo(beta1_, var);
  n.beta2 = CastTo(beta2_, var);
  n.epsilon = CastTo(epsilon_, var);
  return n;
}

Output MomentOptimizer::CorrectedRate(const Typed& n) const {
  const Output second = Sqrt(1 - n.beta2_power);
  const Output rate = n.learning_rate * second;
  return rate / (1 - n.beta1_power);
}

Output MomentOptimizer::NextFirstMoment(const Grad& grad, const Variable& var, const Typed& n) {
  return DecayAndAdd(Slot(var, "m"), n.beta1, grad);
}

Output MomentOptimizer::NextSecondMoment(const Grad& grad, const Variable& var, const Typed& n) {
  if (grad.is_dense()) {
    return DecayAndAdd(Slot(var, "v"), n.beta2, grad.dense() * grad.dense());
  }
  IndexedSlices squares = grad.slices();
  squares.values = squares.values * squares.values;
  return DecayAndAdd(Slot(var, "v"), n.beta2, squares);
}

Output MomentOptimizer::DecayAndAdd(const Variable& slot, Output decay, const Grad& grad) {
  const AssignOptions how = {.use_locking = use_locking()};
  if (grad.is_dense()) {
    const Output rest = 1 - decay;
    const Output added = grad.dense() * rest;
    return ValueAfter(slot, slot.Assign(slot * decay + added, how));
  }
  const Output rest = 1 - decay;
  const Output rows = grad.slices().values * rest;
  const Operation shrunk = WithValueRead(slot, slot.Assign(slot * decay, how));
  ControlDependencies decayed(slot.graph(), {shrunk});
  return ValueAfter(slot,
                    slot.ScatterAdd(grad.slices().indices, rows, {.use_locking = use_locking()}));
}

Operation MomentOptimizer::Finish(Graph& graph, const std::vector<Operation>& updates,
                                  std::string_view name) {
  const AssignOptions how = {.use_locking = use_locking()};
  std::vector<Operation> all = updates;
  {
    ControlDependencies after(graph, updates);
    const Variable beta1_power = BetaPower(1, graph);
    const Variable beta2_power = BetaPower(2, graph);
    ColocateWith with(graph, beta1_power.op());
    all.push_back(WithValueRead(beta1_power, beta1_power.Assign(beta1_power * beta1_, how)));
    all.push_back(WithValueRead(beta2_power, beta2_power.Assign(beta2_power * beta2_, how)));
  }
  return Group(graph, all, name);
}

}  // namespace sluice
