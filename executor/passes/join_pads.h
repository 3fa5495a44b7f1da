// Joins sums of padded tensors that lie side by side: an AddN of Pads becomes a ConcatV2.
//
// Such a sum is the gradient of a tensor that was sliced into parts which cover it. Sampled losses,
// for example, slice the rows that they look up. Each part is then copied once, instead of padded
// to the size of the whole tensor and added. Sizes and paddings must be known.
//
// Exactness: a -0 in a part stays -0, but the sum of -0 and the padding's 0 was 0. Everything else
// keeps its bits.
// Left alone: what Rewriter (rewrite.h) leaves alone.
// Order: after fold_constants, which makes the paddings constant.
// Cost: linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
#define SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of sums that were joined.
absl::StatusOr<int> JoinPads(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
