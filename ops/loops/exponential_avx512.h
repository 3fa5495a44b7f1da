// Computes exponentials of n floats on processors with AVX-512 (executor/cpu/avx512.h). The
// functions use an instruction that scales by a power of two, which compilers do not generate from
// a formula.
//
// y may be x. NaN gives NaN.
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_
#define SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_

#include <cstdint>

namespace sluice {

#if defined(__x86_64__)
// exp(x), within 2 ulp.
void ExpAvx512(const float* x, float* y, int64_t n);
// y = exp(x - minus), within 2 ulp. Returns the sum of y: element i is added to lane i % 16, and
// the lanes are added in order.
float ExpSumAvx512(const float* x, float minus, float* y, int64_t n);
// 1 / (1 + exp(-x)), within 4 ulp.
void SigmoidAvx512(const float* x, float* y, int64_t n);
// tanh(x), within 5 ulp.
void TanhAvx512(const float* x, float* y, int64_t n);
#else  // never called
inline void ExpAvx512(const float*, float*, int64_t) {}
inline float ExpSumAvx512(const float*, float, float*, int64_t) { return 0; }
inline void SigmoidAvx512(const float*, float*, int64_t) {}
inline void TanhAvx512(const float*, float*, int64_t) {}
#endif

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_
