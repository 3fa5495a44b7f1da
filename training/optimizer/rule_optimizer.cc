#include "training/optimizer/rule_optimizer.h"

#include <algorithm>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/ir/constant.h"
#include "graph/status.h"
#include "graph/strings.h"
#include "ops/builders/number_ops.h"
#include "ops/embedding/embedding_table.h"
#include "ops/math/cast_builders.h"
#include "training/optimizer/slot.h"

namespace sluice {
namespace {

Output ConstantBeside(const Variable& var, double value) {
  ColocateWith with(var.graph(), var.op());
  return ConstantInit(value)(var.graph(), var.shape().AsShape(), var.dtype());
}

}  // namespace

void RuleOptimizer::CheckPositive(std::string_view option, double value) {
  if (value <= 0) SetInvalid(InvalidArgument(option, " must be positive: ", value));
}

void RuleOptimizer::CreateSlots(const std::vector<Variable>& vars) {
  for (const Variable& var : vars) {
    if (IsEmbeddingTable(var)) {
      AddTableSlots(var);
      continue;
    }
    std::vector<Output> constants;
    for (const RuleSlot& s : slots_) {
      constants.push_back(s.constant ? ConstantBeside(var, *s.constant) : Output());
    }
    for (size_t i = 0; i < slots_.size(); ++i) {
      const RuleSlot& s = slots_[i];
      const std::string_view slot = s.name.empty() ? s.slot : s.name;
      const std::string& variable = s.variable_name.empty() ? name() : s.variable_name;
      FindOrMakeSlot(var, slot, variable, [&](std::string_view name) {
        if (constants[i]) return CreateSlot(var, constants[i], name);
        if (!s.initializer) return CreateZerosSlot(var, name);
        return CreateSlotWithInitializer(var, s.initializer, var.shape(), var.dtype(), name);
      });
    }
  }
}

void RuleOptimizer::Prepare(Graph& graph) {
  for (const RuleScalar& s : scalars_) {
    SetScalar(s.scalar, s.value.In(graph, s.name.empty() ? s.scalar : s.name));
  }
}

ScalarValue RuleOptimizer::scalar(std::string_view scalar) const {
  const auto found = values_.find(scalar);
  return found == values_.end() ? ScalarValue() : found->second;
}

ScalarValue RuleOptimizer::Typed(std::string_view name, const Variable& var) const {
  const ScalarValue value = scalar(name);
  if (!value.variable) return value.tensor ? CastTo(value.tensor, var.dtype()) : Output();
  if (value.variable.dtype() == var.dtype()) return value;
  return Cast(var.graph(), value.variable, var.dtype());
}

RuleOptimizer::Scalars RuleOptimizer::ScalarsFor(const Variable& var) const {
  Scalars typed;
  for (const UpdateInput& input : rule_->inputs) {
    if (!input.name.empty() && !input.is_gradient()) typed[input.name] = Typed(input.name, var);
  }
  return typed;
}

Variable RuleOptimizer::RuleSlotOf(const Variable& var, std::string_view slot) const {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const RuleSlot& s) { return s.slot == slot; });
  const bool is_renamed = found != slots_.end() && !found->name.empty();
  return Slot(var, is_renamed ? found->name : slot);
}

namespace {

// Returns the value that all elements of a slot get from the initializer, or nullopt if they may
// differ.
std::optional<float> ValueOf(const RuleSlot& slot) {
  if (slot.table_value) return static_cast<float>(*slot.table_value);
  if (slot.constant) return static_cast<float>(*slot.constant);
  if (!slot.initializer) return 0.0f;
  Graph scratch;
  const Output value = slot.initializer(scratch, TensorShape(), DT_FLOAT);
  const Tensor* constant = value ? ConstantBehind(value) : nullptr;
  if (constant == nullptr || constant->num_elements() != 1) return std::nullopt;
  return constant->data<float>()[0];
}

}  // namespace

void RuleOptimizer::AddTableSlots(const Variable& table) {
  std::vector<float> values;
  for (int i = 0; i < rule_->num_slots(); ++i) {
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const RuleSlot& s) {
      return s.slot == rule_->slots[i].name;
    });
    const std::optional<float> value = found == slots_.end() ? 0.0f : ValueOf(*found);
    if (!value) {
      table.graph().SetError(absl::UnimplementedError(
          StrCat(name(), ": expected one initial value for all elements of slot '", found->slot,
                 "' of embedding table '", table.name(), "'")));
      return;
    }
    values.push_back(*value);
  }
  if (const absl::Status status = SetTableSlots(table, name(), values); !status.ok()) {
    table.graph().SetError(status);
  }
}

void RuleOptimizer::ForEachInput(
    Graph& graph, const std::string& op, const Scalars& scalars,
    absl::FunctionRef<void(const UpdateInput& input, Output value)> add) const {
  for (int i = 0; i < rule_->num_inputs(); ++i) {
    const UpdateInput& input = rule_->inputs[i];
    Output value;
    if (!input.is_gradient()) {
      const auto found = scalars.find(input.name);
      const ScalarValue scalar = found == scalars.end() ? ScalarValue() : found->second;
      value = scalar.variable ? scalar.variable.Read() : scalar.tensor;
      if (!value) {
        graph.SetError(absl::InternalError(StrCat(op, ": no value for input ", input.name)));
      }
    }
    add(input, value);
  }
}

Operation RuleOptimizer::ApplyToTable(const IndexedSlices& grad, const Variable& table) {
  Graph& graph = table.graph();
  const IndexedSlices sums = SumDuplicateIndices(grad);
  const Scalars scalars = ScalarsFor(table);
  const std::string op = rule_->TableOpName();
  const Output step = StepOfUpdate(graph);
  NameScope scope(graph, op);
  NodeBuilder builder(&graph, op, At::current());
  builder.Name(scope.prefix()).Input(table.handle());
  ForEachInput(graph, op, scalars, [&](const UpdateInput& input, Output value) {
    if (input.is_gradient()) {
      builder.Input(sums.values).Input(sums.indices);
    } else {
      builder.Input(value);
    }
  });
  builder.Input(step);
  if (flag_) builder.Attr(rule_->flag, *flag_);
  return builder.Finish();
}

Operation RuleOptimizer::ApplyRule(const Grad& grad, const Variable& var) {
  Graph& graph = var.graph();
  const Scalars scalars = ScalarsFor(var);
  const std::string op = rule_->OpName({var.is_resource(), grad.is_slices()});
  NameScope scope(graph, op);
  OutputList inputs = {var.handle()};
  for (int i = 0; i < rule_->num_slots(); ++i) {
    const std::string_view slot = rule_->slots[i].name;
    const Output handle = RuleSlotOf(var, slot).handle();
    if (!handle) graph.SetError(absl::InternalError(StrCat(op, ": no value for input ", slot)));
    inputs.push_back(handle);
  }
  ForEachInput(graph, op, scalars, [&](const UpdateInput& input, Output value) {
    if (!input.is_gradient()) {
      inputs.push_back(value);
    } else if (grad.is_dense()) {
      inputs.push_back(grad.dense());
    } else {
      inputs.insert(inputs.end(), {grad.slices().values, grad.slices().indices});
    }
  });
  NodeBuilder builder(&graph, op, At::current());
  builder.Name(scope.prefix()).Attr("use_locking", use_locking());
  for (const Output& input : inputs) builder.Input(input);
  if (flag_) builder.Attr(rule_->flag, *flag_);
  return builder.Finish();
}

}  // namespace sluice
