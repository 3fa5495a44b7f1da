#include "training/optimizer/adagrad.h"

#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"

namespace sluice {

Adagrad::Adagrad(AdagradOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void Adagrad::CreateSlots(const std::vector<Variable>& vars) {
  if (options_.initial_accumulator_value <= 0) {
    vars[0].graph().SetError(InvalidArgument("initial_accumulator_value must be positive: ",
                                             options_.initial_accumulator_value));
    return;
  }
  for (const Variable& var : vars) {
    SlotWithInitializer(var, ConstantInit(options_.initial_accumulator_value), "accumulator",
                        name());
  }
}

void Adagrad::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
}

Operation Adagrad::ApplyDense(Output grad, const Variable& var) {
  const Output slot = GetSlot(var, "accumulator")->handle();
  const Output rate = CastTo(learning_rate_, var);
  if (var.is_resource()) {
    return ResourceApplyAdagrad(var.handle(), slot, rate, grad, {.use_locking = use_locking()});
  }
  return ApplyAdagrad(var.handle(), slot, rate, grad, {.use_locking = use_locking()});
}

Operation Adagrad::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const Output slot = GetSlot(var, "accumulator")->handle();
  const Output rate = CastTo(learning_rate_, var);
  if (var.is_resource()) {
    return ResourceSparseApplyAdagrad(var.handle(), slot, rate, grad.values, grad.indices,
                                      {.use_locking = use_locking()});
  }
  return SparseApplyAdagrad(var.handle(), slot, rate, grad.values, grad.indices,
                            {.use_locking = use_locking()});
}

}  // namespace sluice
