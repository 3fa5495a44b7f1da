#include "training/optimizer/rms_prop.h"

#include "ops/random/initializer.h"

namespace sluice {

RMSProp::RMSProp(RMSPropOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

void RMSProp::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    SlotWithInitializer(var, Ones(), "rms", name());
    if (options_.centered) ZerosSlot(var, "mg", name());
    ZerosSlot(var, "momentum", name());
  }
}

void RMSProp::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  decay_ = options_.decay.In(graph, "decay");
  momentum_ = options_.momentum.In(graph, "momentum");
  epsilon_ = options_.epsilon.In(graph, "epsilon");
}

Operation RMSProp::ApplyFused(const Grad& grad, const Variable& var) {
  UpdateOp update(*this, options_.centered ? "CenteredRMSProp" : "RMSProp", var, grad);
  if (options_.centered) update.Slot(Slot(var, "mg"));
  return update.Slot(Slot(var, "rms"))
      .Slot(Slot(var, "momentum"))
      .Number(learning_rate_)
      .Number(decay_)
      .Number(momentum_)
      .Number(epsilon_)
      .Gradient()
      .Finish();
}

}  // namespace sluice
