// Products of floats by the matrix unit of newer Intel processors (AMX).
//
// The unit multiplies bfloat16 and sums in float, at 16 times the rate of AVX-512's floats. Each
// float is split into three bfloat16 (split_lines.h); of the nine products of parts, the six that
// a float's digits reach are summed. The result's error is that of sums of floats, or less (Henry,
// Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations", 2019), but parts, products and sums below 2^-126 count as zero.
// What might overflow goes to the library, a panel at a time.
#ifndef SLUICE_OPS_MATMUL_AMX_GEMM_H_
#define SLUICE_OPS_MATMUL_AMX_GEMM_H_

#include "ops/matmul/gemm.h"

namespace sluice {

// Whether this machine has the unit, the system lets us use it, and neither SLUICE_NO_AMX nor
// SLUICE_NO_AVX512 is set.
bool HasAmx();

// Whether AmxGemm can be used, and is the quickest way. k is the whole depth.
bool SuitsAmx(int64_t m, int64_t n, int64_t k);

// As SumOfGemms, into what `into` says.
void AmxGemm(int64_t m, int64_t n, int64_t k, MatrixViews<float> a, MatrixViews<float> b, float* c,
             int64_t c_step, GemmInto into);

// The same with an operand B that is packed once: see gemm.h. No bytes where there is no unit.
bool GainsByAmxPacking(int64_t m, int64_t n, int64_t k);
int64_t AmxPackedBytes(int64_t n, int64_t k);
void AmxPack(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end, char* to);
void AmxPackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b,
                   PackedMatrix packed, int64_t first_column, float* c, int64_t c_step,
                   GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_AMX_GEMM_H_
