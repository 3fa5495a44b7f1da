// Computes float matrix products by a library, in the calling thread. The library is oneDNN
// (onednn_gemm.cc) or, with --config=static, Eigen (eigen_gemm.cc), because Debian has no static
// library of oneDNN.
#ifndef SLUICE_OPS_MATMUL_LIBRARY_GEMM_H_
#define SLUICE_OPS_MATMUL_LIBRARY_GEMM_H_

#include "ops/matmul/gemm.h"

namespace sluice {

// Computes the same as Gemm<float> (gemm.h).
void LibraryGemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b,
                 float* c, int64_t c_step, GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_LIBRARY_GEMM_H_
