// Multiplies float matrices on the matrix unit of newer Intel processors (AMX).
//
// The unit multiplies bfloat16 and sums in float, at 16 times the rate of AVX-512's floats. Each
// float is split into three parts, which are bfloat16 (split_lines.h). Of the nine products of
// parts, the six that affect a float's digits are summed. The error is at most that of sums of
// floats, but parts, products and sums below 2^-126 count as zero. Panels (32 rows or columns)
// whose products might overflow are computed by the library (library_gemm.h).
//
// Reference: Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype
// For Higher-Precision Computations" (2019).
#ifndef SLUICE_OPS_MATMUL_AMX_GEMM_H_
#define SLUICE_OPS_MATMUL_AMX_GEMM_H_

#include "ops/matmul/gemm.h"

namespace sluice {

// Whether this machine has the unit, and both the operating system and the environment variable
// SLUICE_CPU (executor/cpu/instruction_sets.h) permit its use.
bool HasAmx();

// Whether AmxGemm can be used and is the fastest choice for C (m x n). k is the sum of the depths
// (inner dimensions) of all products that are added.
bool SuitsAmx(int64_t m, int64_t n, int64_t k);

// Computes SumOfGemms (gemm.h). `into` says whether the sum replaces C or is added to it.
void AmxGemm(int64_t m, int64_t n, int64_t k, MatrixViews<float> a, MatrixViews<float> b, float* c,
             int64_t c_step, GemmInto into);

// These functions implement GainsByPacking, PackedBytes, PackPanels and PackedGemm (gemm.h) on the
// matrix unit. Without the unit, AmxPackedBytes returns 0.
bool GainsByAmxPacking(int64_t m, int64_t n, int64_t k);
int64_t AmxPackedBytes(int64_t n, int64_t k);
void AmxPack(int64_t n, int64_t k, MatrixView<float> b, int64_t begin, int64_t end, char* to);
void AmxPackedGemm(int64_t m, int64_t n, MatrixView<float> a, MatrixView<float> b,
                   PackedMatrix packed, int64_t first_column, float* c, int64_t c_step,
                   GemmInto into);

}  // namespace sluice

#endif  // SLUICE_OPS_MATMUL_AMX_GEMM_H_
