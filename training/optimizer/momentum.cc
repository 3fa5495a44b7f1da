#include "training/optimizer/momentum.h"

namespace sluice {

Momentum::Momentum(MomentumOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

void Momentum::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) ZerosSlot(var, "momentum", name());
}

void Momentum::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  momentum_ = options_.momentum.In(graph, "momentum");
}

Operation Momentum::ApplyFused(const Grad& grad, const Variable& var) {
  return UpdateOp(*this, "Momentum", var, grad)
      .Slot(Slot(var, "momentum"))
      .Number(learning_rate_)
      .Gradient()
      .Number(momentum_)
      .Attr("use_nesterov", options_.use_nesterov)
      .Finish();
}

}  // namespace sluice
