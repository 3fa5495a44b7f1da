#include "training/optimizer/adagrad.h"

#include "graph/status.h"
#include "ops/random/initializer.h"

namespace sluice {

Adagrad::Adagrad(AdagradOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {
  if (options_.initial_accumulator_value <= 0) {
    SetInvalid(InvalidArgument("initial_accumulator_value must be positive: ",
                               options_.initial_accumulator_value));
  }
}

void Adagrad::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    SlotWithInitializer(var, ConstantInit(options_.initial_accumulator_value), "accumulator",
                        name());
  }
}

void Adagrad::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
}

Operation Adagrad::ApplyFused(const Grad& grad, const Variable& var) {
  return UpdateOp(*this, "Adagrad", var, grad)
      .Slot(Slot(var, "accumulator"))
      .Number(learning_rate_)
      .Gradient()
      .Finish();
}

}  // namespace sluice
