// Sums of padded tensors that lie side by side are joined: AddN of Pads becomes a ConcatV2.
//
// That is the gradient of a tensor that was sliced into parts which cover it, as sampled losses
// slice the rows that they look up: in place of a whole tensor for each part, and their sum, each
// part is copied once. Sizes and paddings have to be known. A pass of its own, because zeros keep
// their sign, which a sum with 0 loses; all else keeps its bits. After constant folding, which
// makes constants of the paddings. What is never touched is Rewriter's choice (rewrite.h). Linear
// in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
#define SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of sums that became one tensor.
absl::StatusOr<int> JoinPads(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
