// Weights that many products read in a step are packed once: the MatMuls of an unrolled recurrent
// network, or of a loop, become _PackedMatMuls of one _PackColumns.
#ifndef SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
#define SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"
#include "graph/ir/graph.h"

namespace sluice {

// How many products read a packed operand now. Products of MatMul and _MatMulColumns whose sizes
// are known, where their kernels gain by it on this machine (PackedOperandReader). What a loop
// reads of its invariants is packed outside.
absl::StatusOr<int> PackOperands(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
