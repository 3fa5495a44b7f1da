#include "training/optimizer/adagrad.h"

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/identity_builders.h"
#include "ops/builders/number_ops.h"
#include "ops/math/cast_builders.h"
#include "ops/sugar.h"

namespace sluice {

Adagrad::Adagrad(const AdagradOptions& options)
    : RuleOptimizer(kAdagrad, options,
                    {{"accum", "accumulator", ConstantInit(options.initial_accumulator_value)}},
                    {{"lr", options.learning_rate, "learning_rate"}}) {
  CheckPositive("initial_accumulator_value", options.initial_accumulator_value);
}

AdagradDA::AdagradDA(const AdagradDAOptions& options)
    : RuleOptimizer(kAdagradDA, options,
                    {{.slot = "gradient_accumulator", .constant = 0},
                     {.slot = "gradient_squared_accumulator",
                      .constant = options.initial_gradient_squared_accumulator_value}},
                    {{"lr", options.learning_rate, "learning_rate"}}),
      global_step_(options.global_step),
      l1_(options.l1_regularization_strength),
      l2_(options.l2_regularization_strength) {
  CheckPositive("initial_gradient_squared_accumulator_value",
                options.initial_gradient_squared_accumulator_value);
  if (!global_step_) SetInvalid(InvalidArgument("AdagradDA needs a global step"));
}

// Copies the global step to the learning rate's device, which spares a transfer per variable.
void AdagradDA::Prepare(Graph& graph) {
  RuleOptimizer::Prepare(graph);
  ColocateWith with(graph, scalar("lr").tensor);
  Output step;
  {
    NameScope scope(graph, "Identity");
    step = Identity(global_step_.Read(), {.name = scope.prefix()});
  }
  SetScalar("global_step", step + 1);
}

AdagradDA::Scalars AdagradDA::ScalarsFor(const Variable& var) const {
  Graph& graph = var.graph();
  Output step;
  {
    DeviceScope beside(graph, var.device());
    step = Identity(scalar("global_step").tensor);
  }
  Scalars scalars;
  scalars["lr"] = Typed("lr", var);
  scalars["l1"] = Cast(graph, l1_, var.dtype());
  scalars["l2"] = Cast(graph, l2_, var.dtype());
  scalars["global_step"] = CastTo(step, DT_INT64);
  return scalars;
}

ProximalAdagrad::ProximalAdagrad(const ProximalAdagradOptions& options)
    : RuleOptimizer(
          kProximalAdagrad, options,
          {{.slot = "accum", .name = "accumulator", .constant = options.initial_accumulator_value}},
          {{"lr", options.learning_rate, "learning_rate"},
           {"l1", options.l1_regularization_strength, "l1_regularization_strength"},
           {"l2", options.l2_regularization_strength, "l2_regularization_strength"}}) {
  CheckPositive("initial_accumulator_value", options.initial_accumulator_value);
}

}  // namespace sluice
