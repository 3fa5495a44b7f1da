#include "executor/passes/unused_nodes.h"

#include <algorithm>
#include <vector>

#include "graph/ir/control_flow.h"
#include "graph/ir/purity.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::vector<Node*> WhatItWaitsFor(const Node& node) {
  std::vector<Node*> before(node.control_inputs().begin(), node.control_inputs().end());
  for (const Output& in : node.inputs()) before.push_back(in.node);
  std::sort(before.begin(), before.end(), [](Node* a, Node* b) { return a->id() < b->id(); });
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

bool SavesEdges(size_t before, size_t after) { return before * after <= before + after; }

}  // namespace

// One output of a Switch is dead, but the Switch itself is not. A node that waits for a reader of
// that output runs only with the branch. If it waited for the Switch, it would always run.
bool IsOnABranch(const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [](const Output& in) { return IsSwitch(*in.node); });
}

bool RemoveIfUnused(Graph& graph, const PassOptions& options, Node* node) {
  if (!node->uses().empty() || options.keep.contains(node->name()) || !IsPure(*node) ||
      IsOnABranch(*node)) {
    return false;
  }
  const std::vector<Node*> before = WhatItWaitsFor(*node);
  const std::vector<Node*> after(node->control_outputs().begin(), node->control_outputs().end());
  if (!SavesEdges(before.size(), after.size())) return false;
  for (Node* to : after) {
    for (Node* from : before) graph.AddControlEdge(from, to);
  }
  graph.Remove(node);
  return true;
}

absl::StatusOr<int> RemoveUnusedNodes(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> order, TopologicalOrder(graph));
  int removed = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (RemoveIfUnused(graph, options, *it)) ++removed;
  }
  return removed;
}

}  // namespace sluice
