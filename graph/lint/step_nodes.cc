#include "graph/lint/step_nodes.h"

#include <algorithm>

#include "graph/build/cond.h"

namespace sluice {

StepNodes::StepNodes(const LintStep& step) {
  std::vector<const Node*> stack;
  for (const Output& fetch : step.fetches) stack.push_back(fetch.node);
  for (const Operation& target : step.targets) stack.push_back(target.node);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node == nullptr || !needed_.insert(node).second) continue;
    in_order_.push_back(node);
    for (const Output& in : node->inputs()) stack.push_back(in.node);
    for (const Node* control : node->control_inputs()) stack.push_back(control);
  }
  std::sort(in_order_.begin(), in_order_.end(),
            [](const Node* a, const Node* b) { return a->id() < b->id(); });
}

NodeSet StepNodes::After(const Node* node) const {
  NodeSet after;
  std::vector<const Node*> stack = {node};
  const auto reach = [&](const Node* next) {
    if (Contains(next) && after.insert(next).second) stack.push_back(next);
  };
  while (!stack.empty()) {
    const Node* from = stack.back();
    stack.pop_back();
    for (const Use& use : from->uses()) reach(use.dst);
    for (const Node* waiting : from->control_outputs()) reach(waiting);
  }
  return after;
}

bool RunInOppositeBranches(const Node& a, const Node& b) {
  for (const ControlFlowContext* x = a.context(); x != nullptr; x = x->outer()) {
    const auto* branch = dynamic_cast<const CondContext*>(x);
    if (branch == nullptr) continue;
    for (const ControlFlowContext* y = b.context(); y != nullptr; y = y->outer()) {
      const auto* other = dynamic_cast<const CondContext*>(y);
      if (other != nullptr && other->pred() == branch->pred() &&
          other->branch() != branch->branch()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace sluice
