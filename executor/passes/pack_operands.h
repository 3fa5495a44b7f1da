// Packs weights once per step instead of once per product: copies them into the order in which the
// matmul kernel reads them. Does so for weights that at least four products of the step read, as in
// an unrolled recurrent network, and for weights that a product reads in each iteration of a loop.
// The MatMuls become _PackedMatMuls, which read the result of one _PackColumns.
#ifndef SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
#define SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns the number of products that now read a packed operand. These are MatMuls and
// _MatMulColumns with known sizes whose kernels are faster with packed operands on this machine
// (executor/kernel/packed_operand_reader.h). Weights that do not change in a loop are packed once,
// before the loop.
absl::StatusOr<int> PackOperands(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
