// Lets products of transposed matrices read the matrices as they are stored.
//
// MatMul and all versions of BatchMatMul can transpose an operand themselves. So a Transpose that
// swaps the last two dimensions is not needed.
//
// Exactness: products of float, half and bfloat16 may change in their last bits, because their
//   kernels may sum in another order if an operand is transposed. Products of other types keep
//   their bits. If the matrices do not fit, the error has their shapes as they are stored.
// Left alone: what Rewriter (rewrite.h) leaves alone, and BatchMatMuls of complex types, because
//   their attributes adj_x and adj_y would also conjugate the operand.
// Order: after simplify, which leaves at most one Transpose in a row. Before common_subexpressions,
//   since Transposes that stay for other readers may be merged.
// Cost: linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of operands that are no longer transposed before their product.
absl::StatusOr<int> FoldTransposes(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
