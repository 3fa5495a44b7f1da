// The innermost loop of products of floats: sums of a few rows and columns stay in registers.
//
// For AVX-512 alone: vectors of 16 floats are split badly by the compiler where registers are
// smaller. It is inlined into functions that say so (executor/cpu/avx512.h).
#ifndef SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_
#define SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_

#include <cstdint>

#include "executor/cpu/avx512.h"
#include "executor/cpu/target_clones.h"

namespace sluice {

inline constexpr int64_t kVecLanes = 16;
using Vec = float __attribute__((vector_size(64)));
// As it lies among floats.
using FloatsVec = float __attribute__((vector_size(64), aligned(4), may_alias));

// By reference: how a Vec is passed would depend on what a function is compiled for.
SLUICE_INLINE_IN_CLONES const FloatsVec& VecAt(const float* p) {
  return *reinterpret_cast<const FloatsVec*>(p);
}
SLUICE_INLINE_IN_CLONES FloatsVec& VecAt(float* p) { return *reinterpret_cast<FloatsVec*>(p); }

// to[r] (kVecs vectors) = or += the sum over d < depth of a(r, d) * b[d]. The element a(r, d) is
// a[r * row_step + d * depth_step]. 24 sums fit in registers.
template <int kRows, int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void ProductRows(const float* a, int64_t row_step, int64_t depth_step,
                                         const float* b, int64_t b_step, int64_t depth, float* to,
                                         int64_t to_step) {
  Vec sums[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      if constexpr (kAdd) {
        sums[r][v] = VecAt(to + r * to_step + v * kVecLanes);
      } else {
        sums[r][v] = Vec{};
      }
    }
  }
  for (int64_t d = 0; d < depth; ++d, a += depth_step, b += b_step) {
    Vec of_b[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) of_b[v] = VecAt(b + v * kVecLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) sums[r][v] += a[r * row_step] * of_b[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) VecAt(to + r * to_step + v * kVecLanes) = sums[r][v];
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_
