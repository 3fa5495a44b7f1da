#include "graph/lint/variable_access.h"

#include <set>
#include <string_view>

namespace sluice {
namespace {

using OpSet = std::set<std::string, std::less<>>;

// Ops that hand a variable on without looking at it.
bool PassesOn(const Node& node) {
  static const OpSet* const ops =
      new OpSet{"Identity",      "Switch",           "Merge",     "Enter",    "Exit",
                "NextIteration", "RefIdentity",      "RefSwitch", "RefMerge", "RefEnter",
                "RefExit",       "RefNextIteration", "RefSelect"};
  return ops->contains(node.op());
}

bool IsVariable(const Node& node) {
  static const OpSet* const ops = new OpSet{"Variable", "VariableV2", "VarHandleOp"};
  return ops->contains(node.op());
}

// Neither reads nor writes a value, only asks about it.
bool OnlyAsks(const Node& node) {
  static const OpSet* const ops =
      new OpSet{"IsVariableInitialized", "VarIsInitializedOp", "VariableShape", "NoOp"};
  return ops->contains(node.op());
}

bool OnlyReads(const Node& node) {
  static const OpSet* const ops =
      new OpSet{"ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd"};
  return ops->contains(node.op());
}

// The variable behind a reference or handle; null where it cannot be told.
const Node* VariableBehind(Output value) {
  for (int steps = 0; steps < 1000 && value.node != nullptr; ++steps) {
    const Node& node = *value.node;
    if (IsVariable(node)) return &node;
    const bool is_updated_reference =
        IsRefType(node.output_type(value.index)) && node.num_inputs() > 0;
    if (!PassesOn(node) && !is_updated_reference) return nullptr;
    value = node.input(0);
  }
  return nullptr;
}

}  // namespace

std::map<std::string, std::vector<VariableAccess>> VariableAccesses(const StepNodes& nodes) {
  std::map<std::string, std::vector<VariableAccess>> accesses;
  for (const Node* node : nodes.in_order()) {
    if (OnlyAsks(*node)) continue;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output& in = node->input(i);
      const bool is_reference = IsRefType(in.dtype());
      if (!is_reference && in.dtype() != DT_RESOURCE) continue;
      const bool takes_itself = is_reference ? IsRefType(node->input_type(i)) : true;
      if (takes_itself && PassesOn(*node)) continue;
      const Node* variable = VariableBehind(in);
      if (variable == nullptr) continue;
      const bool is_write = is_reference ? takes_itself : !OnlyReads(*node);
      accesses[variable->name()].push_back({node, is_write});
    }
  }
  return accesses;
}

}  // namespace sluice
