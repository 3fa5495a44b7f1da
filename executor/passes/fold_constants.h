// Replaces nodes whose inputs are constants by constants with their results. The results are
// computed once, before the first step. Shape, Size and Rank are replaced too, if the shape of
// their input is known.
//
// Left alone: impure nodes, nodes in PassOptions::keep, nodes of branches and loops, nodes with
//   control inputs or outputs, results larger than PassOptions::max_constant_bytes, and nodes whose
//   kernel fails (the step reports the error).
// Order: before the other optimizations, because it leaves them a smaller graph.
// Cost: linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that were replaced.
absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
