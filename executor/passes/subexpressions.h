// Merges nodes that compute the same.
//
// Two nodes are merged if their op, attributes (except `_class`), device, inputs and control inputs
// are equal. Constants above 1 MB count as equal only if they share their memory.
// Left alone: impure nodes, and nodes in PassOptions::keep.
// Order: after fold_constants, whose constants make more nodes equal.
#ifndef SLUICE_EXECUTOR_PASSES_SUBEXPRESSIONS_H_
#define SLUICE_EXECUTOR_PASSES_SUBEXPRESSIONS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that were removed.
absl::StatusOr<int> MergeCommonSubexpressions(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_SUBEXPRESSIONS_H_
