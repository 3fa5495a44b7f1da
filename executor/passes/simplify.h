// Nodes whose result is a tensor that is there already go away, and chains of nodes that move
// elements become shorter.
//
// After constant folding, which makes constants of the permutations, axes and shapes that the rules
// look at, and before common subexpressions, which merges what is equal only now. The rules:
//   - Transpose by 0, 1, 2, …; two Transposes that cancel; of two others the second does the work
//     of both.
//   - Reshape, ExpandDims and Squeeze, and chains of them, that lead back to a tensor's own shape;
//     a Reshape of such a view that cannot fail takes the tensor itself. Not all sizes need be
//     known.
//   - Neg, Invert, LogicalNot and Conj twice; Reverse or ReverseV2 twice along the same dimensions.
//   - x + 0, x - 0, x * 1, x / 1 and x to the power of 1, the constant scalar or of a shape that
//     does not widen x.
//   - Cast to the same type, sums of one tensor, BroadcastTo the same shape, Tile by ones, Identity
//     and StopGradient.
// Results keep their bits, but for a NaN that signals, which arithmetic would silence. So there is
// no rule for x + 0 of floating numbers but with -0, for powers of them (a NaN loses its sign), for
// 16-bit ones (their kernels have one NaN for all), nor for products of complex ones ((inf, 0) * 1
// has a NaN). A rule applies only where no node that it leaves out could have failed. Never
// touched: what Rewriter (rewrite.h) leaves alone, stateful and kept nodes among them. Linear in
// the graph: a chain is followed for some steps only.
#ifndef SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
#define SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of nodes that went away or take their input from further up.
absl::StatusOr<int> Simplify(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
