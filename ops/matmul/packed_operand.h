// Packs second operands of float matrix products into tensors, so that several products can use one
// packed operand, for example constant weights.
#ifndef SLUICE_OPS_MATMUL_PACKED_OPERAND_H_
#define SLUICE_OPS_MATMUL_PACKED_OPERAND_H_

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {

// Packs all of B, whose first element is `b`, in parallel (PackPanels, gemm.h). Returns a tensor of
// bytes from the step's allocator. RESOURCE_EXHAUSTED if there is no memory.
absl::StatusOr<Tensor> PackOperand(KernelContext& context, const float* b, const Layout& layout);

// Returns the packed matrix in `packed`, a result of PackOperand with this layout.
inline PackedMatrix PackedMatrixOf(const Tensor& packed, const Layout& layout) {
  return {static_cast<const char*>(packed.raw()), layout.columns, layout.rows};
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_PACKED_OPERAND_H_
