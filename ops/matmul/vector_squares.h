// Transposes a square of 16 x 16 floats that is held in 16 vectors. For AVX-512
// (executor/cpu/avx512.h).
#ifndef SLUICE_OPS_MATMUL_VECTOR_SQUARES_H_
#define SLUICE_OPS_MATMUL_VECTOR_SQUARES_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "ops/matmul/product_rows.h"

namespace sluice {

// Exchanges lane i + kStep of a with lane i of b, for each i without bit kStep.
template <int kStep, size_t... kLane>
SLUICE_INLINE_IN_CLONES void ExchangeLanes(Vec& a, Vec& b, std::index_sequence<kLane...>) {
  const Vec low = __builtin_shufflevector(a, b, (kLane & kStep ? 16 + kLane - kStep : kLane)...);
  b = __builtin_shufflevector(a, b, (kLane & kStep ? 16 + kLane : kLane + kStep)...);
  a = low;
}

template <int kStep>
SLUICE_INLINE_IN_CLONES void ExchangeRows(Vec* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kVecLanes; ++i) {
    if ((i & kStep) == 0) {
      ExchangeLanes<kStep>(rows[i], rows[i + kStep], std::make_index_sequence<kVecLanes>());
    }
  }
}

// Transposes a square (Eklundh, 1972).
SLUICE_INLINE_IN_CLONES void TransposeRows(Vec* rows) {
  ExchangeRows<1>(rows);
  ExchangeRows<2>(rows);
  ExchangeRows<4>(rows);
  ExchangeRows<8>(rows);
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_VECTOR_SQUARES_H_
