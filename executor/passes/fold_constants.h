// Nodes that follow from constants alone are computed once, before the first step.
//
// First of the passes: what it leaves is smaller for all others. Never computed: stateful nodes,
// fed ones, control flow, random numbers, results larger than PassOptions::max_constant_bytes, and
// nodes whose kernel fails (the step will report that). Shape, Size and Rank of tensors whose shape
// is known become constants too.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of nodes replaced.
absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
