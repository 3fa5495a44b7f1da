// The innermost loop of float matrix products. The sums of a few rows and columns stay in
// registers.
//
// Requires AVX-512, because the compiler splits vectors of 16 floats badly for smaller registers.
// The functions are inlined into functions that are compiled for AVX-512 (executor/cpu/avx512.h).
#ifndef SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_
#define SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_

#include <cstdint>

#include "executor/cpu/avx512.h"
#include "executor/cpu/target_clones.h"

namespace sluice {

inline constexpr int64_t kVecLanes = 16;
using Vec = float __attribute__((vector_size(64)));
// A Vec in memory, which need not be aligned.
using FloatsVec = float __attribute__((vector_size(64), aligned(4), may_alias));

// Returns the vector at `p`. It is a reference, because the way to pass a Vec by value depends on
// the instruction set for which a function is compiled.
SLUICE_INLINE_IN_CLONES const FloatsVec& VecAt(const float* p) {
  return *reinterpret_cast<const FloatsVec*>(p);
}
SLUICE_INLINE_IN_CLONES FloatsVec& VecAt(float* p) { return *reinterpret_cast<FloatsVec*>(p); }

// The positions of the terms of one sum in a row of `a` and in `b`. In a matrix product, a sum has
// one line of `inner` terms. In a convolution, it has `outer` lines of `inner` terms each.
struct SumTerms {
  int64_t inner;
  int64_t a_inner, b_inner;  // steps in floats
  int64_t outer = 1;
  int64_t a_outer = 0, b_outer = 0;
};

// Computes kRows rows of kVecs vectors of sums. Each term of row r multiplies an element of row r
// of `a` by kVecs vectors of `b`. The sums of row r are stored at to + r * to_step or, with kAdd,
// added to the numbers there. Up to 24 vectors of sums fit in registers.
template <int kRows, int kVecs, bool kAdd>
SLUICE_INLINE_IN_CLONES void ProductRows(const float* a, int64_t row_step, const float* b,
                                         const SumTerms& terms, float* to, int64_t to_step) {
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
  for (int64_t i = 0; i < terms.outer; ++i) {
    const float* x = a + i * terms.a_outer;
    const float* y = b + i * terms.b_outer;
    for (int64_t j = 0; j < terms.inner; ++j, x += terms.a_inner, y += terms.b_inner) {
      Vec of_b[kVecs];
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) of_b[v] = VecAt(y + v * kVecLanes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVecs; ++v) sums[r][v] += x[r * row_step] * of_b[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) VecAt(to + r * to_step + v * kVecLanes) = sums[r][v];
  }
}

// Computes the same as ProductRows for `rows` rows. Processes kRows rows at a time, then the
// remaining rows in the smaller numbers of kFewer, the last of which is 1.
template <int kVecs, bool kAdd, int kRows, int... kFewer>
SLUICE_INLINE_IN_CLONES void ProductOfRows(const float* a, int64_t row_step, int64_t rows,
                                           const float* b, const SumTerms& terms, float* to,
                                           int64_t to_step) {
  for (; rows >= kRows; rows -= kRows, a += kRows * row_step, to += kRows * to_step) {
    ProductRows<kRows, kVecs, kAdd>(a, row_step, b, terms, to, to_step);
  }
  if constexpr (sizeof...(kFewer) > 0) {
    ProductOfRows<kVecs, kAdd, kFewer...>(a, row_step, rows, b, terms, to, to_step);
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_PRODUCT_ROWS_H_
