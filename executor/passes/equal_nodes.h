// Nodes that compute the same thing become one.
//
// After constant folding, because equal constants made by folding make more nodes equal. Two nodes
// are the same when op, attributes, device, inputs and control inputs are; stateful nodes, nodes
// with ref inputs or outputs, control flow and kept nodes are left alone.
#ifndef SLUICE_EXECUTOR_PASSES_EQUAL_NODES_H_
#define SLUICE_EXECUTOR_PASSES_EQUAL_NODES_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of nodes that went away.
absl::StatusOr<int> MergeCommonSubexpressions(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_EQUAL_NODES_H_
