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

// Copies the global step to the device of the learning rate, which saves one transfer per variable.
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

AdagradDecay::AdagradDecay(const AdagradDecayOptions& options)
    : RuleOptimizer(
          kAdagradDecay, options,
          {{"accum", "accumulator", ConstantInit(options.initial_accumulator_value)},
           {"accum_decay_power", "accumulator_decay_power"}},
          {{"lr", options.learning_rate, "learning_rate"},
           {"accum_decay_rate", options.accumulator_decay_rate, "accumulator_decay_rate"},
           {"accum_baseline", options.initial_accumulator_value, "accumulator_baseline"}}),
      global_step_(options.global_step),
      decay_step_(options.accumulator_decay_step) {
  CheckPositive("initial_accumulator_value", options.initial_accumulator_value);
  CheckPositive("accumulator_decay_step", static_cast<double>(decay_step_));
  if (!global_step_) SetInvalid(InvalidArgument("AdagradDecay needs a global step"));
}

void AdagradDecay::Prepare(Graph& graph) {
  RuleOptimizer::Prepare(graph);
  SetScalar("accum_decay_step", Constant(graph, decay_step_, "accumulator_decay_step"));
  SetScalar("global_step", CastTo(global_step_.Read(), DT_INT64));
}

AdagradDecay::Scalars AdagradDecay::ScalarsFor(const Variable& var) const {
  Scalars scalars;
  for (const char* name : {"lr", "accum_decay_rate", "accum_baseline"}) {
    scalars[name] = Typed(name, var);
  }
  for (const char* name : {"accum_decay_step", "global_step"}) scalars[name] = scalar(name);
  return scalars;
}

}  // namespace sluice
