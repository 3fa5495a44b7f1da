// Replaces calls of functions by the functions' nodes: If and Case by conds, While, For and
// MapDefun by loops, PartitionedCall by its body, SymbolicGradient by the body and its gradient.
//
// The executor can run only conds, loops and plain nodes. This is the first rewrite of a pruned
// graph, so that the later ones (folding, placement, partitioning) see the nodes of functions too.
// Node `n` in the body of call `c` is named `c/n`.
//
// Thread safety: that of the graph.
#ifndef SLUICE_GRAPH_FUNCTION_LOWER_H_
#define SLUICE_GRAPH_FUNCTION_LOWER_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {

// Whether the node is a call that LowerFunctions replaces.
bool IsFunctional(const Node& node);

// Whether the op takes functions as attributes: IsFunctional, or its kernel calls functions.
bool TakesFunctions(const Node& node);

struct LowerOptions {
  // True: for each call, a node with the name and the outputs of the call is added, so that the
  // call can still be fetched or run by name. False: only for the calls in `keep_names`.
  bool keep_all_names = false;
  std::set<std::string> keep_names;
  int max_depth = 64;  // of nested calls, because a function may call itself
  // The largest number of nodes that calls may add, and the largest number of calls. Without a
  // limit, a library of a few kilobytes could add 2^64 nodes.
  int64_t max_nodes = 300'000;
  // Allocates the constants in functions. Must outlive the graph.
  Allocator* memory = &LimitedHeap();
  // Called before each call is expanded. If it returns false, LowerFunctions ends with CANCELLED.
  // Empty means that it always continues.
  std::function<bool()> is_wanted;
};

// Replaces all calls and returns how many there were. `library` is a serialized FunctionDefLibrary.
// INVALID_ARGUMENT for arguments that do not fit, UNIMPLEMENTED if calls nest deeper than
// `max_depth` ("… calls itself" for recursion), NOT_FOUND for unknown functions and for unknown ops
// in their bodies, RESOURCE_EXHAUSTED above `max_nodes`. The error names the call. After an error
// the graph must not be used.
absl::StatusOr<int> LowerFunctions(Graph& graph, std::string_view library,
                                   const LowerOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_LOWER_H_
