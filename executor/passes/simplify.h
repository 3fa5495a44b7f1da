// Removes nodes whose result is an existing tensor, and shortens chains of nodes that move
// elements.
//
// The rules, by the traits that ops declare (graph/op/op_traits.h):
//   - is_identity: Identity, Cast to the same type, AddN with one input, Tile by ones, ...
//   - neutral: x + 0, x * 1, x / 1, ..., if the constant does not change the shape of x.
//   - undoes: two Transposes, Negs or Reverses that cancel, ...
//   - view_sizes: chains of Reshape, ExpandDims and Squeeze that lead back to the shape of the
//     tensor. Not all sizes need to be known.
// Two rules are for single ops: the second of two Transposes does the work of both, and a Reshape
// of a view reads the viewed tensor itself, if the view cannot fail.
//
// Exactness: results keep their bits, except that a signaling NaN stays one. The removed arithmetic
//   would have made it a quiet NaN.
// Left alone: nodes that could fail, and what Rewriter (rewrite.h) leaves alone.
// Order: after fold_constants, which makes permutations, axes and shapes constant. Before
//   common_subexpressions, which merges nodes that become equal here.
// Cost: linear in the graph. A chain is followed for a few steps only.
#ifndef SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
#define SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that were removed, or that now read a tensor further up their chain.
absl::StatusOr<int> Simplify(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_SIMPLIFY_H_
