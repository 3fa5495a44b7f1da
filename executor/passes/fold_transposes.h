// Lets matrix products read a matrix instead of its Transpose, and transpose it on the way.
//
// Applies to MatMul, BatchMatMul, BatchMatMulV2 and V3 if a Transpose by a constant swaps the last
// two dimensions of an operand. Products of float and 16-bit types may differ in their last bits,
// because a library or loop may sum in another order if an operand is transposed. Products of other
// types keep their bits. An error about matrices that do not fit names the stored shapes.
//
// Runs after simplify, which leaves at most one Transpose in a row, and before the merge of common
// subexpressions, because the remaining Transposes may be equal. Rewriter (rewrite.h) decides which
// nodes are left alone. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
#define SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of operands that are no longer transposed before their product.
absl::StatusOr<int> FoldTransposes(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FOLD_TRANSPOSES_H_
