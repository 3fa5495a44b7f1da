#include "ops/loops/exponential_avx512.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "executor/cpu/avx512.h"
#include "executor/cpu/prefetch.h"

namespace sluice {
namespace {

#define SLUICE_INLINE_AVX512 SLUICE_AVX512 inline __attribute__((always_inline))

constexpr int64_t kLanes = 16;

SLUICE_INLINE_AVX512 __m512 All(float value) { return _mm512_set1_ps(value); }

// Returns a * b + c.
SLUICE_INLINE_AVX512 __m512 Fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }

// Clamps x to [least, most]. NaN stays NaN.
SLUICE_INLINE_AVX512 __m512 Bound(__m512 x, float least, float most) {
  return _mm512_min_ps(All(most), _mm512_max_ps(All(least), x));
}

// 2^(k/16), for each k.
alignas(64) constexpr float kPowers[kLanes] = {
    1.0000000000f, 1.0442737824f, 1.0905077327f, 1.1387886348f, 1.1892071150f, 1.2418578121f,
    1.2968395547f, 1.3542555469f, 1.4142135624f, 1.4768261459f, 1.5422108254f, 1.6104903319f,
    1.6817928305f, 1.7562521604f, 1.8340080864f, 1.9152065614f};

// Returns exp(x) in lanes that are `counted`, where |x| must be at most 104, and 0 in other lanes.
// The relative error is 1.2e-7. exp(x) = 2^s e^r, where s is x / log(2) rounded to sixteenths, and
// r is so small that a polynomial of degree 3 suffices.
SLUICE_INLINE_AVX512 __m512 ExpOfBounded(__m512 x, __mmask16 counted) {
  // Adding 1.5 * 2^19 rounds to sixteenths. The last four bits of the sum are the number of
  // sixteenths.
  const __m512 round = All(786432);
  const __m512 rounded = Fma(x, All(1.44269504f), round);
  const __m512 s = _mm512_sub_ps(rounded, round);
  const __m512 r = Fma(s, All(2.12194440e-4f), _mm512_fnmadd_ps(s, All(0.693359375f), x));
  const __m512 power = _mm512_permutexvar_ps(_mm512_castps_si512(rounded), _mm512_load_ps(kPowers));
  __m512 p = Fma(All(1.0f / 6), r, All(0.5f));
  p = Fma(p, _mm512_mul_ps(r, r), r);
  // Multiplies by 2^floor(s).
  return _mm512_maskz_scalef_ps(counted, Fma(p, power, power), s);
}

// Masks off lanes below -104, whose result is 0. Otherwise, results that underflow would take 20
// times as long, for example the exponentials of masked attention scores.
SLUICE_INLINE_AVX512 __m512 Exp(__m512 x) {
  const __mmask16 counted = _mm512_cmp_ps_mask(x, All(-104), _CMP_NLT_UQ);  // true for NaN
  return ExpOfBounded(_mm512_min_ps(All(104), x), counted);
}

// The bits of 2^(k/32) minus k * 2^18.
alignas(64) constexpr uint32_t kPowersOf32nds[2 * kLanes] = {
    0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f, 0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3, 0x3f78f4f0,
    0x3f7837f0, 0x3f778d3a, 0x3f76f532, 0x3f767043, 0x3f75fed7, 0x3f75a15b, 0x3f75583f, 0x3f7523f6,
    0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d, 0x3f75672a, 0x3f75b9be, 0x3f76248c, 0x3f76a81e,
    0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf, 0x3f79b907, 0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3};

// Returns exp(-x) for |x| <= 87.3, with a relative error of 1.8e-7. NaN stays NaN. Since s is
// rounded to 32nds, a polynomial of degree 2 suffices. A single addition adds k and the exponent of
// 2^s to the bits of the power.
SLUICE_INLINE_AVX512 __m512 ExpOfOpposite(__m512 x) {
  const __m512 round = All(393216);  // 1.5 * 2^18
  const __m512 rounded = _mm512_fnmadd_ps(x, All(1.44269504f), round);
  const __m512 s = _mm512_sub_ps(rounded, round);
  const __m512 r = Fma(s, All(2.12194440e-4f), _mm512_fnmsub_ps(s, All(0.693359375f), x));
  const __m512i bits = _mm512_castps_si512(rounded);
  const __m512i power = _mm512_permutex2var_epi32(_mm512_load_si512(kPowersOf32nds), bits,
                                                  _mm512_load_si512(kPowersOf32nds + kLanes));
  const __m512 scale = _mm512_castsi512_ps(_mm512_add_epi32(power, _mm512_slli_epi32(bits, 18)));
  return Fma(Fma(All(0.5000049f), r, All(1.0000147f)), _mm512_mul_ps(scale, r), scale);
}

// Computes 1 / (1 + exp(-x)). An approximation of the reciprocal with 14 bits, refined by a Newton
// step, is faster than a division. Results that would be subnormal are 0. For x >= 20 the result is
// 1.
struct Sigmoid {
  SLUICE_INLINE_AVX512 __m512 operator()(__m512 x) const {
    const __mmask16 is_normal = _mm512_cmp_ps_mask(x, All(-87.3f), _CMP_NLT_UQ);  // true for NaN
    const __m512 d = _mm512_add_ps(All(1), ExpOfOpposite(_mm512_min_ps(All(20), x)));
    const __m512 y = _mm512_rcp14_ps(d);
    return _mm512_maskz_fmadd_ps(is_normal, y, _mm512_fnmadd_ps(d, y, All(1)), y);
  }
};

// Computes tanh(x) as x P(x^2) / Q(x^2). The polynomials have degree 4, and are fitted for the
// least relative error (2e-8) up to the x whose tanh rounds to 1.
struct Tanh {
  SLUICE_INLINE_AVX512 __m512 operator()(__m512 x) const {
    x = Bound(x, -9.015625f, 9.015625f);
    const __m512 s = _mm512_mul_ps(x, x);
    __m512 p = Fma(All(1.3318971e-08f), s, All(2.0583406e-05f));
    __m512 q = Fma(All(7.7619773e-07f), s, All(3.2830853e-04f));
    p = Fma(p, s, All(3.4940300e-03f));
    q = Fma(q, s, All(2.5871055e-02f));
    p = Fma(p, s, All(1.3379714e-01f));
    q = Fma(q, s, All(4.6713029e-01f));
    p = Fma(_mm512_mul_ps(p, s), x, x);
    q = Fma(q, s, All(1));
    return Bound(_mm512_div_ps(p, q), -1, 1);
  }
};

struct PlainExp {
  SLUICE_INLINE_AVX512 __m512 operator()(__m512 x) const { return Exp(x); }
};

SLUICE_INLINE_AVX512 __mmask16 FirstLanes(int64_t n) {
  return static_cast<__mmask16>((1u << n) - 1);
}

// Computes y = f(x) for n numbers.
template <typename F>
SLUICE_INLINE_AVX512 void ForVectors(const float* x, float* y, int64_t n, F f) {
  constexpr int64_t kTile = 2048, kAhead = 16 * kLanes;
  int64_t i = 0;
  if (n > kTile) {  // x and y exceed the L1 cache, so prefetches y
    for (; i + kAhead + kLanes <= n; i += kLanes) {
      Prefetch<true>(y, i + kAhead);
      _mm512_storeu_ps(y + i, f(_mm512_loadu_ps(x + i)));
    }
  }
  for (; i + kLanes <= n; i += kLanes) _mm512_storeu_ps(y + i, f(_mm512_loadu_ps(x + i)));
  if (i == n) return;
  const __mmask16 rest = FirstLanes(n - i);
  _mm512_mask_storeu_ps(y + i, rest, f(_mm512_maskz_loadu_ps(rest, x + i)));
}

}  // namespace

SLUICE_AVX512 void ExpAvx512(const float* x, float* y, int64_t n) {
  ForVectors(x, y, n, PlainExp());
}

SLUICE_AVX512 float ExpSumAvx512(const float* x, float minus, float* y, int64_t n) {
  const __m512 shift = All(minus);
  __m512 lanes = _mm512_setzero_ps();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m512 e = Exp(_mm512_sub_ps(_mm512_loadu_ps(x + i), shift));
    _mm512_storeu_ps(y + i, e);
    lanes = _mm512_add_ps(lanes, e);
  }
  if (i < n) {
    const __mmask16 rest = FirstLanes(n - i);
    const __m512 e = Exp(_mm512_sub_ps(_mm512_maskz_loadu_ps(rest, x + i), shift));
    _mm512_mask_storeu_ps(y + i, rest, e);
    lanes = _mm512_mask_add_ps(lanes, rest, lanes, e);
  }
  alignas(64) float parts[kLanes];
  _mm512_store_ps(parts, lanes);
  float sum = parts[0];
  for (int j = 1; j < kLanes; ++j) sum += parts[j];
  return sum;
}

SLUICE_AVX512 void SigmoidAvx512(const float* x, float* y, int64_t n) {
  ForVectors(x, y, n, Sigmoid());
}

SLUICE_AVX512 void TanhAvx512(const float* x, float* y, int64_t n) { ForVectors(x, y, n, Tanh()); }

}  // namespace sluice
#endif  // defined(__x86_64__)
