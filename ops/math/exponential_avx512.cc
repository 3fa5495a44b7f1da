#include "ops/math/exponential_avx512.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "executor/kernel/avx512.h"

namespace sluice {
namespace {

#define SLUICE_INLINE_AVX512 SLUICE_AVX512 inline __attribute__((always_inline))

constexpr int64_t kLanes = 16;

SLUICE_INLINE_AVX512 __m512 All(float value) { return _mm512_set1_ps(value); }

// a * b + c
SLUICE_INLINE_AVX512 __m512 Fma(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }

// NaN stays.
SLUICE_INLINE_AVX512 __m512 Bound(__m512 x, float least, float most) {
  return _mm512_min_ps(All(most), _mm512_max_ps(All(least), x));
}

// The formula of inline_exp.h, with the instruction that scales.
SLUICE_INLINE_AVX512 __m512 Exp(__m512 x) {
  x = Bound(x, -104, 104);
  const __m512 round = All(12582912);  // 1.5 * 2^23: what is added to it is rounded to a whole
  const __m512 whole = _mm512_sub_ps(Fma(x, All(1.44269504f), round), round);
  const __m512 r = Fma(whole, All(2.12194440e-4f), _mm512_fnmadd_ps(whole, All(0.693359375f), x));
  __m512 p = Fma(All(1.9875691500e-4f), r, All(1.3981999507e-3f));
  p = Fma(p, r, All(8.3334519073e-3f));
  p = Fma(p, r, All(4.1665795894e-2f));
  p = Fma(p, r, All(1.6666665459e-1f));
  p = Fma(p, r, All(5.0000001201e-1f));
  p = Fma(p, _mm512_mul_ps(r, r), r);
  return _mm512_scalef_ps(_mm512_add_ps(p, All(1)), whole);
}

struct ExpMinus {
  float minus;
  SLUICE_INLINE_AVX512 __m512 operator()(__m512 x) const {
    return Exp(_mm512_sub_ps(x, All(minus)));
  }
};

struct Sigmoid {
  SLUICE_INLINE_AVX512 __m512 operator()(__m512 x) const {
    const __m512 opposite = _mm512_sub_ps(_mm512_setzero_ps(), x);
    return _mm512_div_ps(All(1), _mm512_add_ps(All(1), Exp(opposite)));
  }
};

// x P(x^2) / Q(x^2), of fourth degrees, fitted for the least relative error (2e-8) up to where tanh
// rounds to 1, as this does there.
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

// y = f(x)
template <typename F>
SLUICE_INLINE_AVX512 void ForVectors(const float* x, float* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) _mm512_storeu_ps(y + i, f(_mm512_loadu_ps(x + i)));
  if (i == n) return;
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  _mm512_mask_storeu_ps(y + i, rest, f(_mm512_maskz_loadu_ps(rest, x + i)));
}

}  // namespace

SLUICE_AVX512 void ExpAvx512(const float* x, float minus, float* y, int64_t n) {
  ForVectors(x, y, n, ExpMinus{minus});
}

SLUICE_AVX512 void SigmoidAvx512(const float* x, float* y, int64_t n) {
  ForVectors(x, y, n, Sigmoid());
}

SLUICE_AVX512 void TanhAvx512(const float* x, float* y, int64_t n) { ForVectors(x, y, n, Tanh()); }

}  // namespace sluice
#endif  // defined(__x86_64__)
