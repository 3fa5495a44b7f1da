#include "training/optimizer/adam_async.h"

#include "graph/build/scopes.h"
#include "graph/strings.h"
#include "ops/sugar.h"
#include "training/optimizer/slot.h"

namespace sluice {

AdamAsync::AdamAsync(const AdamAsyncOptions& options)
    : RuleOptimizer(kAdamAsync, options, {{"m"}, {"v"}},
                    {{"lr", options.learning_rate, "learning_rate"},
                     {"beta1", options.beta1},
                     {"beta2", options.beta2},
                     {"epsilon", options.epsilon}}),
      beta1_(options.beta1),
      beta2_(options.beta2),
      apply_sparse_rmsprop_(options.apply_sparse_rmsprop) {}

void AdamAsync::CreateSlots(const std::vector<Variable>& vars) {
  RuleOptimizer::CreateSlots(vars);
  const auto make = [&](const Variable& var, std::string_view slot, const HyperParameter& beta) {
    FindOrMakeSlot(var, slot, StrCat(name(), "/", slot), [&](std::string_view slot_name) {
      const auto first = [&](Graph& g, const TensorShape&, DataType) {
        return beta.In(g, "initial_value");
      };
      return CreateSlotWithInitializer(var, first, PartialShape::Scalar(), DT_FLOAT, slot_name);
    });
  };
  for (const Variable& var : vars) {
    make(var, "beta1_power", beta1_);
    make(var, "beta2_power", beta2_);
  }
}

AdamAsync::Scalars AdamAsync::ScalarsFor(const Variable& var) const {
  Scalars scalars;
  for (const char* scalar : {"lr", "beta1", "beta2", "epsilon"}) {
    scalars[scalar] = Typed(scalar, var);
  }
  for (const char* power : {"beta1_power", "beta2_power"}) {
    scalars[power] = CastTo(Slot(var, power).Read(), var.dtype());
  }
  return scalars;
}

Operation AdamAsync::ThenAdvance(const Variable& var, Operation update) {
  ControlDependencies after(var.graph(), {update});
  std::vector<Operation> all = {update};
  for (const auto& [power, beta] : {std::pair{"beta1_power", "beta1"}, {"beta2_power", "beta2"}}) {
    const Variable value = Slot(var, power);
    all.push_back(value.Assign(value * scalar(beta).tensor, {.use_locking = use_locking()}));
  }
  return Group(var.graph(), all);
}

Operation AdamAsync::ApplyDense(Output grad, const Variable& var) {
  SetFlag(false);
  return ThenAdvance(var, ApplyRule(grad, var));
}

Operation AdamAsync::ApplySparse(const IndexedSlices& grad, const Variable& var) {
  SetFlag(apply_sparse_rmsprop_);
  return ThenAdvance(var, ApplyRule(grad, var));
}

Operation AdamAsync::ApplyToTable(const IndexedSlices& grad, const Variable& table) {
  SetFlag(apply_sparse_rmsprop_);
  return ThenAdvance(table, RuleOptimizer::ApplyToTable(grad, table));
}

}  // namespace sluice
