// Products of transposed matrices take the matrices as they are, and transpose them on the way.
//
// MatMul, BatchMatMul and its versions 2 and 3, where a Transpose by a constant swaps the last two
// dimensions. A pass of its own, because a result may change in its last bits: products of float
// and of 16-bit types are made by a library and loops that may sum in another order where an
// operand is transposed. Those of other types are packed before they are summed, and keep their
// bits. An error about matrices that do not fit names their shapes as they are stored. After
// simplify, which leaves at most one Transpose in a row; before common subexpressions, since
// Transposes that stay for other readers may be merged. What is never touched is Rewriter's choice
// (rewrite.h). Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of operands that are no longer transposed before their product.
absl::StatusOr<int> FoldTransposes(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
