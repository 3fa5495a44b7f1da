// Computes nodes that follow from constants alone once, before the first step.
//
// Also Shape, Size and Rank of tensors whose shape is known. Runs before the other
// optimizations, because it leaves them a smaller graph. Never computed: impure and kept nodes,
// nodes of branches and loops, results larger than PassOptions::max_constant_bytes, and nodes whose
// kernel fails (the step will report the error). Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that were replaced.
absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
