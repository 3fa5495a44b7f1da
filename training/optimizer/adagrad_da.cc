#include "training/optimizer/adagrad_da.h"

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/sugar.h"

namespace sluice {

AdagradDA::AdagradDA(AdagradDAOptions options)
    : FusedOptimizer(options.name, options.use_locking), options_(std::move(options)) {
  if (options_.initial_gradient_squared_accumulator_value <= 0) {
    SetInvalid(InvalidArgument("initial_gradient_squared_accumulator_value must be positive: ",
                               options_.initial_gradient_squared_accumulator_value));
  }
  if (!options_.global_step) SetInvalid(InvalidArgument("AdagradDA needs a global step"));
}

void AdagradDA::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    Graph& graph = var.graph();
    auto filled = [&](double value) {
      ColocateWith with(graph, var.op());
      return ConstantInit(value)(graph, var.shape().AsShape(), var.dtype());
    };
    const Output sum = filled(0);
    const Output square_sum = filled(options_.initial_gradient_squared_accumulator_value);
    SlotWithValue(var, sum, "gradient_accumulator", name());
    SlotWithValue(var, square_sum, "gradient_squared_accumulator", name());
  }
}

void AdagradDA::Prepare(Graph& graph) {
  learning_rate_ = options_.learning_rate.In(graph, "learning_rate");
  // A copy beside the learning rate: the variables' devices need not ask the global step's.
  ColocateWith with(graph, learning_rate_);
  Output step;
  {
    NameScope scope(graph, "Identity");
    step = Identity(options_.global_step.Read(), {.name = scope.prefix()});
  }
  global_step_ = step + 1;
}

Operation AdagradDA::ApplyFused(const Grad& grad, const Variable& var) {
  Graph& graph = var.graph();
  Output step;
  {
    DeviceScope beside(graph, var.device());
    step = Identity(global_step_);
  }
  // A number under the name of the cast that TensorFlow makes of it.
  auto number = [&](float value) {
    NameScope scope(graph, "Cast");
    const Output x = Constant(graph, value, "x");
    return var.dtype() == DT_FLOAT ? x : Cast(x, var.dtype(), {.name = scope.prefix()});
  };
  UpdateOp update(*this, "AdagradDA", var, grad);
  update.Slot(Slot(var, "gradient_accumulator"))
      .Slot(Slot(var, "gradient_squared_accumulator"))
      .Gradient()
      .Number(learning_rate_);
  update.Tensor(number(options_.l1_regularization_strength));
  update.Tensor(number(options_.l2_regularization_strength));
  return update.Tensor(BaseType(step.dtype()) == DT_INT64 ? step : Cast(step, DT_INT64)).Finish();
}

}  // namespace sluice
