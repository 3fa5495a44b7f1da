#include "training/optimizer/proximal_adagrad.h"

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/random/initializer.h"

namespace sluice {

ProximalAdagrad::ProximalAdagrad(ProximalAdagradOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {
  if (options_.initial_accumulator_value <= 0) {
    SetInvalid(InvalidArgument("initial_accumulator_value must be positive: ",
                               options_.initial_accumulator_value));
  }
}

void ProximalAdagrad::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    Output value;
    {
      ColocateWith with(var.graph(), var.op());
      value = ConstantInit(options_.initial_accumulator_value)(var.graph(), var.shape().AsShape(),
                                                               var.dtype());
    }
    SlotWithValue(var, value, "accumulator", name());
  }
}

void ProximalAdagrad::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  l1_ = options_.l1_regularization_strength.In(graph, "l1_regularization_strength");
  l2_ = options_.l2_regularization_strength.In(graph, "l2_regularization_strength");
}

Operation ProximalAdagrad::ApplyFused(const Grad& grad, const Variable& var) {
  return UpdateOp(*this, "ProximalAdagrad", var, grad)
      .Slot(Slot(var, "accumulator"))
      .Number(learning_rate_)
      .Number(l1_)
      .Number(l2_)
      .Gradient()
      .Finish();
}

}  // namespace sluice
