#include "graph/lint/variable_access.h"

#include "graph/ir/variable_use.h"

namespace sluice {
namespace {

bool Has(const Node& node, VariableUse use) { return node.traits().variable_use == use; }

bool OnlyReads(const Node& node) {
  return Has(node, VariableUse::kReads) || Has(node, VariableUse::kReadsValue);
}

// The variable behind a reference or handle; null if it is not known before the step.
const Node* VariableBehind(Output value) {
  for (int steps = 0; steps < 1000 && value.node != nullptr; ++steps) {
    const Node& node = *value.node;
    if (CreatesVariable(node)) return &node;
    const bool is_updated_reference =
        IsRefType(node.output_type(value.index)) && node.num_inputs() > 0;
    if (!Has(node, VariableUse::kForwards) && !is_updated_reference) return nullptr;
    value = node.input(0);
  }
  return nullptr;
}

}  // namespace

std::map<std::string, std::vector<VariableAccess>> VariableAccesses(const StepNodes& nodes) {
  std::map<std::string, std::vector<VariableAccess>> accesses;
  for (const Node* node : nodes.in_order()) {
    if (Has(*node, VariableUse::kInspects)) continue;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output& in = node->input(i);
      const bool is_reference = IsRefType(in.dtype());
      if (!is_reference && in.dtype() != DT_RESOURCE) continue;
      const bool takes_itself = is_reference ? IsRefType(node->input_type(i)) : true;
      if (takes_itself && Has(*node, VariableUse::kForwards)) continue;
      const Node* variable = VariableBehind(in);
      if (variable == nullptr) continue;
      const bool is_write = is_reference ? takes_itself : !OnlyReads(*node);
      accesses[variable->name()].push_back({node, is_write});
    }
  }
  return accesses;
}

}  // namespace sluice
