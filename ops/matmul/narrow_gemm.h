// Computes float products with 4 to 16 columns, as in the last layer of a classifier. Libraries
// leave most of each vector empty for these products. Requires AVX-512.
#ifndef SLUICE_OPS_MATMUL_NARROW_GEMM_H_
#define SLUICE_OPS_MATMUL_NARROW_GEMM_H_

#include "executor/cpu/avx512.h"
#include "ops/matmul/gemm.h"

namespace sluice {

// Whether NarrowGemm can compute the product.
inline bool IsNarrow(int64_t m, int64_t n, MatrixView<float> b) {
  return n >= 4 && n <= 16 && m >= 4 && b.column_step == 1 && HasAvx512();
}

// Computes the same as Gemm (gemm.h). If the columns of A are contiguous, a vector holds elements
// of a column of A. If the rows of A are contiguous and long, a vector holds terms of one sum,
// which are added at the end. Otherwise a vector holds a row of B.
void NarrowGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
                int64_t c_step, GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_NARROW_GEMM_H_
