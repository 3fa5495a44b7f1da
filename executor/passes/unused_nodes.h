// Takes out computations that are only waited for.
#ifndef SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
#define SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"
#include "graph/ir/graph.h"

namespace sluice {

// Removes pure nodes whose outputs nobody takes. What waited for such a node waits for what the
// node took and waited for instead, unless that needs more edges than it saves. Returns how many
// were removed. Nodes on an output of a Switch stay: they are what a branch's constants wait for.
absl::StatusOr<int> RemoveUnusedNodes(Graph& graph, const PassOptions& options);

// Whether the node reads an output of a Switch.
bool IsOnABranch(const Node& node);
// The same for one node; whether it was removed.
bool RemoveIfUnused(Graph& graph, const PassOptions& options, Node* node);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
