#include "training/optimizer/adam.h"

#include <algorithm>

#include "graph/build/scopes.h"
#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"

namespace sluice {

Adam::Adam(AdamOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void Adam::CreateSlots(const std::vector<Variable>& vars) {
  // One pair of powers a graph, beside the first variable by name, whichever order they come in.
  const Variable& first =
      *std::min_element(vars.begin(), vars.end(),
                        [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  NonSlotVariable(options_.beta1, "beta1_power", first);
  NonSlotVariable(options_.beta2, "beta2_power", first);
  for (const Variable& var : vars) {
    ZerosSlot(var, "m", name());
    ZerosSlot(var, "v", name());
  }
}

void Adam::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  beta1_ = Constant(graph, options_.beta1, "beta1");
  beta2_ = Constant(graph, options_.beta2, "beta2");
  epsilon_ = Constant(graph, options_.epsilon, "epsilon");
}

Operation Adam::ApplyDense(Output grad, const Variable& var) {
  const Variable beta1_power = *GetNonSlotVariable("beta1_power", var.graph());
  const Variable beta2_power = *GetNonSlotVariable("beta2_power", var.graph());
  const Output m = GetSlot(var, "m")->handle();
  const Output v = GetSlot(var, "v")->handle();
  auto cast = [&](Output t) { return CastTo(t, var); };
  if (var.is_resource()) {
    return ResourceApplyAdam(var.handle(), m, v, cast(beta1_power.Read()), cast(beta2_power.Read()),
                             cast(learning_rate_), cast(beta1_), cast(beta2_), cast(epsilon_), grad,
                             {.use_locking = use_locking()});
  }
  return ApplyAdam(var.handle(), m, v, cast(beta1_power.Read()), cast(beta2_power.Read()),
                   cast(learning_rate_), cast(beta1_), cast(beta2_), cast(epsilon_), grad,
                   {.use_locking = use_locking()});
}

Operation Adam::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  Graph& graph = var.graph();
  auto cast = [&](Output t) { return CastTo(t, var); };
  const Output beta1_power = cast(GetNonSlotVariable("beta1_power", graph)->Read());
  const Output beta2_power = cast(GetNonSlotVariable("beta2_power", graph)->Read());
  const Output beta1 = cast(beta1_);
  const Output beta2 = cast(beta2_);
  const Output rate = cast(learning_rate_) * Sqrt(1 - beta2_power) / (1 - beta1_power);
  // moment = moment * beta over all rows, then the gradient's rows are added; the result's value.
  auto decay_and_add = [&](const Variable& slot, Output beta, Output rows) {
    const AssignOptions how = {.use_locking = use_locking()};
    ControlDependencies decayed(graph, {slot.Assign(slot.Read() * beta, how)});
    const Operation added = slot.ScatterAdd(grad.indices, rows, how);
    if (!slot.is_resource()) return added.output(0);
    ControlDependencies after(graph, {added});
    return slot.Read();
  };
  const Output m = decay_and_add(*GetSlot(var, "m"), beta1, grad.values * (1 - beta1));
  const Output v =
      decay_and_add(*GetSlot(var, "v"), beta2, (grad.values * grad.values) * (1 - beta2));
  const Operation update =
      var.AssignSub(rate * m / (Sqrt(v) + cast(epsilon_)), {.use_locking = use_locking()});
  return Group(graph, {update, m, v});
}

Operation Adam::Finish(Graph& graph, const std::vector<Operation>& updates, std::string_view name) {
  const Variable beta1_power = *GetNonSlotVariable("beta1_power", graph);
  const Variable beta2_power = *GetNonSlotVariable("beta2_power", graph);
  std::vector<Operation> all = updates;
  {
    ControlDependencies after(graph, updates);
    ColocateWith with(graph, beta1_power.op());
    all.push_back(beta1_power.Assign(beta1_power.Read() * beta1_, {.use_locking = use_locking()}));
    all.push_back(beta2_power.Assign(beta2_power.Read() * beta2_, {.use_locking = use_locking()}));
  }
  return Group(graph, all, name);
}

}  // namespace sluice
