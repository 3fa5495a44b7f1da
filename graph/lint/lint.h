// Finds what is allowed in a graph but seldom meant.
//
//   for (const LintWarning& w : Lint({.fetches = {loss}, .targets = {train}}))
//   puts(w.text.c_str());
//
// Costs nothing where it is not called. Thread safety: the graph must not change meanwhile.
#ifndef SLUICE_GRAPH_LINT_LINT_H_
#define SLUICE_GRAPH_LINT_LINT_H_

#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// One step, as it would be run: only what it needs is looked at.
struct LintStep {
  OutputList fetches;
  std::vector<Operation> targets;
};

struct LintWarning {
  enum class Kind {
    // A write of a variable and another access of it, of which neither comes first: a step may see
    // either order, and another one at the next run.
    kUnorderedAccess,
    // A stateful node that only one branch of a cond uses but that was built outside of it, so that
    // it runs whichever branch is taken.
    kOutsideOfBranch,
    // A sparse gradient of which a tensor with all rows is made.
    kMadeDense,
  };
  Kind kind;
  const Node* first;
  const Node* second;  // the other access; the Switch through which the branch takes it; the values
  std::string text;    // names both, with the lines that made them
};

// In the order of the nodes' making. All in one graph.
std::vector<LintWarning> Lint(const LintStep& step);

}  // namespace sluice

#endif  // SLUICE_GRAPH_LINT_LINT_H_
