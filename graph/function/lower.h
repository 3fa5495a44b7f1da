// Calls of functions become what the functions consist of: If and Case become conds, While, For and
// MapDefun become loops, PartitionedCall its body, SymbolicGradient the body and its gradient.
//
// The executor knows only the primitive forms. So this comes first of all rewrites of a pruned
// graph: what lies in a function is folded, merged, placed and partitioned like everything else.
// Names: a node `n` of the body of call `c` is `c/n`.
#ifndef SLUICE_GRAPH_FUNCTION_LOWER_H_
#define SLUICE_GRAPH_FUNCTION_LOWER_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// The node names functions that LowerFunctions knows how to run.
bool IsFunctional(const Node& node);

struct LowerOptions {
  // After it, a node of the name of each call is there still, with the same outputs: what is
  // fetched or run by name. Otherwise only for the calls in `keep_names`.
  bool keep_all_names = false;
  std::set<std::string> keep_names;
  int max_depth = 64;  // of calls in calls: a function that calls itself has no end
};

// The number of calls that were lowered. `library` is a serialised FunctionDefLibrary.
// INVALID_ARGUMENT for arguments that do not fit, UNIMPLEMENTED "… calls itself" for recursion,
// NOT_FOUND for unknown functions; the message names the call. The graph is broken after an error.
absl::StatusOr<int> LowerFunctions(Graph& graph, std::string_view library,
                                   const LowerOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_LOWER_H_
