// Computes nodes that depend only on constants once, before the first step.
//
// The pass leaves alone stateful nodes, fed nodes, control flow, random numbers, results larger
// than PassOptions::max_constant_bytes, and nodes whose kernel fails (the step reports the error).
// Shape, Size and Rank of tensors with known shapes become constants too. Runs first, because it
// makes the graph smaller for the other passes.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that became constants.
absl::StatusOr<int> FoldConstants(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_CONSTANTS_H_
