#include "executor/passes/run_order.h"

#include "graph/ir/control_flow.h"

namespace sluice {

std::unordered_set<const Node*> NodesAfter(const std::vector<Node*>& nodes) {
  std::unordered_set<const Node*> after;
  std::vector<const Node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (IsNextIteration(*node)) continue;
    for (const Use& use : node->uses()) {
      if (after.insert(use.dst).second) open.push_back(use.dst);
    }
    for (const Node* next : node->control_outputs()) {
      if (after.insert(next).second) open.push_back(next);
    }
  }
  return after;
}

}  // namespace sluice
