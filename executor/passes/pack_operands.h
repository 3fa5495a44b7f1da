// Packs weights that many products read in a step once: the MatMuls of an unrolled recurrent
// network, or of a loop, become _PackedMatMuls of one _PackColumns.
#ifndef SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
#define SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns the number of products that now read a packed operand. These are nodes of MatMul and
// _MatMulColumns with known sizes, if their kernels gain by it on this machine
// (PackedOperandReader). Invariants of a loop are packed outside of the loop.
absl::StatusOr<int> PackOperands(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
