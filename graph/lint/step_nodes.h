// StepNodes finds the nodes that a step needs, and which of them depend on each other. Lint uses
// it.
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
  // The nodes of the step in the order of their creation.
  const std::vector<const Node*>& in_order() const { return in_order_; }
  // The nodes of the step that depend on `node`, directly or indirectly.
  NodeSet After(const Node* node) const;

 private:
  NodeSet needed_;
  std::vector<const Node*> in_order_;
};

// Whether both nodes are in opposite branches of one Cond, so that a step runs only one of them.
bool RunInOppositeBranches(const Node& a, const Node& b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_STEP_NODES_H_
