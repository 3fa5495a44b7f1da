// Removes computations whose results no node reads.
#ifndef SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
#define SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Removes pure nodes (without side effects) whose outputs no node reads, and returns their number.
// Nodes that wait for such a node then wait for its inputs and control inputs. The node stays if
// these new edges would be more than the removed ones. It also stays if it reads an output of a
// Switch: a constant of a branch waits for such a node, so that the constant is dead if the branch
// is not taken.
absl::StatusOr<int> RemoveUnusedNodes(Graph& graph, const PassOptions& options);

// Whether the node reads an output of a Switch.
bool IsOnABranch(const Node& node);
// Removes the node if RemoveUnusedNodes would. Returns whether it was removed.
bool RemoveIfUnused(Graph& graph, const PassOptions& options, Node* node);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_UNUSED_NODES_H_
