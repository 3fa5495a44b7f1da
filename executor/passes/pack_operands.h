// Packs weights once per step if at least four products of the step read them, or products of a
// loop, as in a recurrent network. The MatMuls of an unrolled network or of a loop become
// _PackedMatMuls, which read the result of one _PackColumns.
#ifndef SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
#define SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns the number of products that now read a packed operand. These are MatMuls and
// _MatMulColumns with known sizes whose kernels are faster with packed operands on this machine
// (PackedOperandReader). Invariants of a loop are packed outside of the loop.
absl::StatusOr<int> PackOperands(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PACK_OPERANDS_H_
