// Divides sums of gradients by the number of gradients, for accumulators that return means.
#ifndef SLUICE_OPS_DATAFLOW_SCALE_H_
#define SLUICE_OPS_DATAFLOW_SCALE_H_

#include <cstdint>

#include "graph/tensor/dtype.h"
#include "ops/loops/arithmetic.h"

namespace sluice {

// Divides values[i] by `count` for i in [0, n). Does nothing if `dtype` is not a floating type.
inline void DivideBy(DataType dtype, void* values, int64_t n, int64_t count) {
  // The reciprocal of a power of two up to this limit is exact in every type. So multiplying by the
  // reciprocal gives the same bits as the division, and is faster.
  const bool by_product = count <= (1 << 14) && (count & (count - 1)) == 0;
  const ArithmeticRow scale =
      FindArithmeticWithScalar(by_product ? ArithmeticOp::kMul : ArithmeticOp::kDiv, dtype);
  const double by = by_product ? 1.0 / static_cast<double>(count) : static_cast<double>(count);
  const auto run = [&]<typename T>(T scalar) { scale(values, &scalar, n); };
  switch (dtype) {
    case DT_HALF:
      return run(half(static_cast<float>(by)));
    case DT_BFLOAT16:
      return run(bfloat16(static_cast<float>(by)));
    case DT_FLOAT:
      return run(static_cast<float>(by));
    case DT_DOUBLE:
      return run(by);
    default:
      return;
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_SCALE_H_
