#include "graph/ir/variable_use.h"

namespace sluice {

const Node* VariableBehind(Output value) {
  // The limit ends the search if the inputs of a Merge form a cycle.
  for (int steps = 0; steps < 1000 && value.node != nullptr; ++steps) {
    const Node& node = *value.node;
    if (CreatesVariable(node)) return &node;
    const bool is_updated_reference =
        IsRefType(node.output_type(value.index)) && node.num_inputs() > 0;
    const bool is_forwarded = node.traits().variable_use == VariableUse::kForwards;
    if (!is_forwarded && !is_updated_reference) return nullptr;
    value = node.input(0);
  }
  return nullptr;
}

std::optional<VariableValue> FindVariableValue(Output value) {
  VariableValue found;
  while (value && !IsRefType(value.dtype())) {
    Node* node = value.node;
    found.nodes.push_back(node);
    value = node->num_inputs() > 0 ? node->input(0) : Output();
    if (node->traits().variable_use == VariableUse::kReadsValue) break;
    if (!OnlyPassesOn(*node)) return std::nullopt;
  }
  if (!value) return std::nullopt;
  found.variable = value;
  return found;
}

}  // namespace sluice
