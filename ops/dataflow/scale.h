// Division of gradients by a count.
#ifndef SLUICE_OPS_DATAFLOW_SCALE_H_
#define SLUICE_OPS_DATAFLOW_SCALE_H_

#include <cstdint>

#include "graph/tensor/dtype.h"
#include "ops/state/arithmetic.h"

namespace sluice {

// values[i] /= count for i in [0, n); floating types.
inline void DivideBy(DataType dtype, void* values, int64_t n, int64_t count) {
  const ArithmeticRow divide = FindArithmeticWithScalar(ArithmeticOp::kDiv, dtype);
  switch (dtype) {
    case DT_HALF: {
      const half divisor(static_cast<float>(count));
      return divide(values, &divisor, n);
    }
    case DT_BFLOAT16: {
      const bfloat16 divisor(static_cast<float>(count));
      return divide(values, &divisor, n);
    }
    case DT_FLOAT: {
      const float divisor = static_cast<float>(count);
      return divide(values, &divisor, n);
    }
    case DT_DOUBLE: {
      const double divisor = static_cast<double>(count);
      return divide(values, &divisor, n);
    }
    default:
      return;
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_DATAFLOW_SCALE_H_
