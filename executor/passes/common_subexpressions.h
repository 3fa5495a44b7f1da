// Merges nodes that compute the same.
//
// Two nodes are equal if their op, attributes, device, inputs and control inputs are. The pass
// leaves alone stateful nodes, nodes with references, control flow and kept nodes. Runs after
// constant folding, because equal folded constants make more nodes equal.
#ifndef SLUICE_EXECUTOR_PASSES_COMMON_SUBEXPRESSIONS_H_
#define SLUICE_EXECUTOR_PASSES_COMMON_SUBEXPRESSIONS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of removed nodes.
absl::StatusOr<int> MergeCommonSubexpressions(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_COMMON_SUBEXPRESSIONS_H_
