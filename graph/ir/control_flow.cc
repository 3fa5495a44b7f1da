#include "graph/ir/control_flow.h"

namespace sluice {

std::vector<bool> ConditionalNodes(const Graph& graph) {
  std::vector<bool> conditional(graph.num_node_ids(), false);
  std::vector<const Node*> open;
  const auto add = [&](const Node* node) {
    if (conditional[node->id()]) return;
    conditional[node->id()] = true;
    open.push_back(node);
  };
  for (const Node* node : graph.nodes()) {
    if (IsSwitch(*node) || IsEnter(*node) || node->role() == OpRole::kReceive) add(node);
  }
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Use& use : node->uses()) add(use.dst);
    for (const Node* next : node->control_outputs()) add(next);
  }
  return conditional;
}

}  // namespace sluice
