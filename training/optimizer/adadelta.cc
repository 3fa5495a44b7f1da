#include "training/optimizer/adadelta.h"

namespace sluice {

Adadelta::Adadelta(AdadeltaOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {}

void Adadelta::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    ZerosSlot(var, "accum", name());
    ZerosSlot(var, "accum_update", name());
  }
}

void Adadelta::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "lr");
  rho_ = options_.rho.In(graph, "rho");
  epsilon_ = options_.epsilon.In(graph, "epsilon");
}

Operation Adadelta::ApplyFused(const Grad& grad, const Variable& var) {
  return UpdateOp(*this, "Adadelta", var, grad)
      .Slot(Slot(var, "accum"))
      .Slot(Slot(var, "accum_update"))
      .Number(learning_rate_)
      .Number(rho_)
      .Number(epsilon_)
      .Gradient()
      .Finish();
}

}  // namespace sluice
