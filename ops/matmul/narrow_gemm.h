// Products of floats with 8 to 16 columns, as classifiers' last layers are: for AVX-512, where
// libraries leave half of each vector empty.
#ifndef SLUICE_OPS_MATMUL_NARROW_GEMM_H_
#define SLUICE_OPS_MATMUL_NARROW_GEMM_H_

#include "executor/cpu/avx512.h"
#include "ops/matmul/gemm.h"

namespace sluice {

// Whether NarrowGemm does it.
inline bool IsNarrow(int64_t m, int64_t n, MatrixView<float> b) {
  return n >= 8 && n <= 16 && m >= 4 && b.column_step == 1 && HasAvx512();
}

// As Gemm. Where the rows of A lie in memory one after the other, its columns fill the vectors;
// where its columns do, and are long, their products are summed in them; else those of B.
void NarrowGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c,
                int64_t c_step, GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_NARROW_GEMM_H_
