// Removes computations whose results no node reads.
#ifndef SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
#define SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Removes pure nodes whose outputs no node reads. Nodes that waited for such a node wait for its
// inputs and control inputs instead, unless that needs more edges than it saves. Outputs of a
// Switch stay, because constants of a branch wait for them. Returns the number of removed nodes.
absl::StatusOr<int> RemoveUnusedNodes(Graph& graph, const PassOptions& options);

// Whether the node reads an output of a Switch.
bool IsOnABranch(const Node& node);
// Removes one node, if it is unused. Returns whether it was removed.
bool RemoveIfUnused(Graph& graph, const PassOptions& options, Node* node);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
