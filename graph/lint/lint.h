// Finds parts of a graph that are valid but usually mistakes.
//
//   for (const LintWarning& w : Lint({.fetches = {loss}, .targets = {train}})) {
//     puts(w.text.c_str());
//   }
//
// Sessions do not call it: call it once, when the graph is complete. It takes time proportional to
// the graph, and more for variables with many accesses.
//
// Thread safety: the graph must not change during the call.
// Lifetime: warnings point to nodes, and are valid as long as the graph.
// Errors: none. Invalid handles are ignored.
#ifndef SLUICE_GRAPH_LINT_LINT_H_
#define SLUICE_GRAPH_LINT_LINT_H_

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// A step to check. Only the nodes that it runs are considered.
struct LintStep {
  OutputList fetches;
  std::vector<Operation> targets;
};

// One finding. `text` is a sentence for the user, and needs no other field.
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
  // By kind: the other access, the Switch of the branch, or the node of the sparse gradient.
  const Node* second;
  // A sentence that names both nodes, with their lines in the program.
  std::string text;
};

// Returns the warnings in the order of the first nodes; empty if there is nothing to report. All
// nodes of `step` are in one graph.
std::vector<LintWarning> Lint(const LintStep& step);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_LINT_H_
