// Removes nodes whose result exists already, and shortens chains of nodes that move elements.
//
// The rules:
//   - Transpose by 0, 1, 2, …; two Transposes that cancel; of two others, the second one does the
//     work of both.
//   - Reshape, ExpandDims, Squeeze and chains of them that lead back to a tensor's own shape. A
//     Reshape of such a view that cannot fail reads the tensor itself. Sizes may be unknown.
//   - Neg, Invert, LogicalNot and Conj twice; Reverse or ReverseV2 twice along the same dimensions.
//   - x + 0, x - 0, x * 1, x / 1 and x to the power of 1, if the constant is a scalar or has a
//   shape
//     that does not widen x.
//   - Cast to the same type, sums of one tensor, BroadcastTo the same shape, Tile by ones, Identity
//     and StopGradient.
// Results keep their bits, except signalling NaNs, which arithmetic would make quiet. So there is
// no rule for x + 0 in floating types (except -0), for their powers (a NaN loses its sign), for
// 16-bit floats (their kernels have one NaN), and for complex products ((inf, 0) * 1 has a NaN). A
// rule applies only if no removed node could have failed. Rewriter (rewrite.h) decides which nodes
// are left alone, such as stateful and kept nodes.
//
// Runs after constant folding, which makes the permutations, axes and shapes constant, and before
// the merge of common subexpressions, because it makes nodes equal. Linear in the graph: a chain is
// followed for a limited number of nodes.
#ifndef SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
#define SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that were removed or read an earlier tensor.
absl::StatusOr<int> Simplify(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
