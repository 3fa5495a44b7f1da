#include "ops/matmul/packed_operand.h"

namespace sluice {

absl::StatusOr<Tensor> PackOperand(KernelContext& context, const float* b, const Layout& layout) {
  constexpr double kNsPerElement = 0.25;
  const int64_t n = layout.columns, k = layout.rows;
  SLUICE_ASSIGN_OR_RETURN(
      Tensor packed, Tensor::Allocate(*context.step().allocator, DT_UINT8, {PackedBytes(n, k)}));
  if (packed.num_elements() == 0) return packed;
  const MatrixView<float> view = ViewOf(b, layout);
  char* const to = static_cast<char*>(packed.raw());
  context.ParallelFor((n + kPackedColumns - 1) / kPackedColumns,
                      kNsPerElement * static_cast<double>(kPackedColumns * k),
                      [&](int64_t begin, int64_t end) { PackPanels(n, k, view, begin, end, to); });
  return packed;
}

}  // namespace sluice
