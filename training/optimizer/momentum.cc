#include "training/optimizer/momentum.h"

#include "ops/builders/ops.h"
#include "ops/builders/sugar.h"

namespace sluice {

Momentum::Momentum(MomentumOptions options)
    : Optimizer(options.name, options.use_locking), options_(std::move(options)) {}

void Momentum::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) ZerosSlot(var, "momentum", name());
}

void Momentum::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  momentum_ = options_.momentum.In(graph, "momentum");
}

Operation Momentum::ApplyDense(Output grad, const Variable& var) {
  const Output slot = GetSlot(var, "momentum")->handle();
  const Output rate = CastTo(learning_rate_, var);
  const Output momentum = CastTo(momentum_, var);
  if (var.is_resource()) {
    return ResourceApplyMomentum(
        var.handle(), slot, rate, grad, momentum,
        {.use_locking = use_locking(), .use_nesterov = options_.use_nesterov});
  }
  return ApplyMomentum(var.handle(), slot, rate, grad, momentum,
                       {.use_locking = use_locking(), .use_nesterov = options_.use_nesterov});
}

Operation Momentum::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  const Output slot = GetSlot(var, "momentum")->handle();
  const Output rate = CastTo(learning_rate_, var);
  const Output momentum = CastTo(momentum_, var);
  if (var.is_resource()) {
    return ResourceSparseApplyMomentum(
        var.handle(), slot, rate, grad.values, grad.indices, momentum,
        {.use_locking = use_locking(), .use_nesterov = options_.use_nesterov});
  }
  return SparseApplyMomentum(var.handle(), slot, rate, grad.values, grad.indices, momentum,
                             {.use_locking = use_locking(), .use_nesterov = options_.use_nesterov});
}

}  // namespace sluice
