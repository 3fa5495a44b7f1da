// Operands of products of floats, packed into tensors.
#ifndef SLUICE_OPS_MATMUL_PACKED_OPERAND_H_
#define SLUICE_OPS_MATMUL_PACKED_OPERAND_H_

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/matmul/product_tiles.h"

namespace sluice {

// All of B, whose first element is `b`, in parallel: bytes in memory of `allocator`.
// RESOURCE_EXHAUSTED.
absl::StatusOr<Tensor> PackOperand(KernelContext& context, Allocator& allocator, const float* b,
                                   const Layout& layout);

// `packed` is what PackOperand has made.
inline PackedMatrix PackedMatrixOf(const Tensor& packed, const Layout& layout) {
  return {static_cast<const char*>(packed.raw()), layout.columns, layout.rows};
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_PACKED_OPERAND_H_
