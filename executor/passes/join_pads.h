// Concatenates padded tensors that lie side by side instead of adding them: an AddN of Pads becomes
// a ConcatV2.
//
// Such sums are the gradient of a tensor that was sliced into parts that cover it, as in sampled
// losses. A sum needs a whole tensor per part. The concatenation copies each part once. Sizes and
// paddings must be known. Zeros keep their sign, which the sum would lose. All other elements keep
// their bits.
//
// Runs after constant folding, which makes the paddings constant. Rewriter (rewrite.h) decides
// which nodes are left alone. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
#define SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of sums that became concatenations.
absl::StatusOr<int> JoinPads(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_JOIN_PADS_H_
