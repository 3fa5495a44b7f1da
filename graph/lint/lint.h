// Finds parts of a graph that are valid but usually mistakes.
//
//   for (const LintWarning& w : Lint({.fetches = {loss}, .targets = {train}}))
//   puts(w.text.c_str());
//
// Costs nothing unless called. Thread safety: the graph must not change during the call.
#ifndef SLUICE_GRAPH_LINT_LINT_H_
#define SLUICE_GRAPH_LINT_LINT_H_

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// A step to check. Only its nodes are considered.
struct LintStep {
  OutputList fetches;
  std::vector<Operation> targets;
};

struct LintWarning {
  enum class Kind {
    // A write of a variable and another access of it, without an order between them. Each step may
    // run them in either order.
    kUnorderedAccess,
    // A stateful node that only one branch of a cond uses but that was built outside it. It runs
    // whichever branch is taken.
    kOutsideOfBranch,
    // A sparse gradient that is converted to a dense tensor.
    kMadeDense,
  };
  Kind kind;
  const Node* first;
  const Node* second;  // the other access, the Switch of the branch, or the slices
  std::string text;    // names both, with their lines in the program
};

// Returns the warnings in the order of the nodes. All nodes are in one graph.
std::vector<LintWarning> Lint(const LintStep& step);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_LINT_H_
