// Exponentials of n floats where HasAvx512 (executor/cpu/avx512.h): what the compiler makes of a
// loop over one element's formula takes half as long again, and twice as long for tanh, since it
// has no instruction that scales by a power of two.
//
// y may be x. NaN gives NaN. Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_
#define SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_

#include <cstdint>

namespace sluice {

#if defined(__x86_64__)
// exp(x), to 2 ulp.
void ExpAvx512(const float* x, float* y, int64_t n);
// y = exp(x - minus), to 2 ulp; the sum of y, by 16 lanes that take turns, which are then added in
// their order.
float ExpSumAvx512(const float* x, float minus, float* y, int64_t n);
// 1 / (1 + exp(-x)), to 4 ulp.
void SigmoidAvx512(const float* x, float* y, int64_t n);
// To 5 ulp.
void TanhAvx512(const float* x, float* y, int64_t n);
#else  // never called
inline void ExpAvx512(const float*, float*, int64_t) {}
inline float ExpSumAvx512(const float*, float, float*, int64_t) { return 0; }
inline void SigmoidAvx512(const float*, float*, int64_t) {}
inline void TanhAvx512(const float*, float*, int64_t) {}
#endif

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_EXPONENTIAL_AVX512_H_
