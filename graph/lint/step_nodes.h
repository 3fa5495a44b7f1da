// The nodes that a step needs, and what comes after what among them.
#ifndef SLUICE_GRAPH_LINT_STEP_NODES_H_
#define SLUICE_GRAPH_LINT_STEP_NODES_H_

#include <unordered_set>
#include <vector>

#include "graph/lint/lint.h"

namespace sluice {

using NodeSet = std::unordered_set<const Node*>;

class StepNodes {
 public:
  explicit StepNodes(const LintStep& step);
  bool Contains(const Node* node) const { return needed_.contains(node); }
  const std::vector<const Node*>& in_order() const { return in_order_; }  // of their making
  // What of the step waits for `node`, directly or not.
  NodeSet After(const Node* node) const;

 private:
  NodeSet needed_;
  std::vector<const Node*> in_order_;
};

// Both lie in branches of one Cond, of which a step runs one.
bool RunInOppositeBranches(const Node& a, const Node& b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_STEP_NODES_H_
