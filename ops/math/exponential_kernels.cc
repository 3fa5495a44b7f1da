#include <cmath>

#include "ops/loops/elementwise.h"
#include "ops/loops/exponential_avx512.h"
#include "ops/loops/inline_exp.h"
#include "ops/loops/same_size.h"
#include "ops/loops/vector_math.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T SigmoidOf(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return 1.0f / (1.0f + InlineExp(-x));
  } else {
    return T(1) / (T(1) + std::exp(-x));
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T Expm1Of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::expm1(x);
  } else {
    // Kahan's method: log(u) contains the rounding error of u = exp(x) too, so that it cancels.
    const T u = std::exp(x);
    if (u == T(1)) return x;
    if (u - T(1) == T(-1)) return T(-1);
    const T log_u = std::log(u);
    return u == log_u ? u : (u - T(1)) * (x / log_u);
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T Log1pOf(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::log1p(x);
  } else {
    const T u = T(1) + x;
    if (u == T(1) || u == x) return u == x ? std::log(u) : x;
    return x * (std::log(u) / (u - T(1)));
  }
}

SLUICE_FUNCTOR(PlainExpFn, CallsLibrary(0.4), (T x), std::exp(x));
struct ExpFn : PlainExpFn {
  static constexpr auto kAvx512 = [](const float* x, float* y, int64_t n) { ExpAvx512(x, y, n); };
};
KERNELS(Exp, "T", Elementwise<ExpFn>::Kernel, FloatAndComplexList);

SLUICE_FUNCTOR(PlainTanhFn, CallsLibrary(0.4), (T x), std::tanh(x));
struct TanhFn : PlainTanhFn {
  static constexpr auto kAvx512 = TanhAvx512;
};
KERNELS(Tanh, "T", Elementwise<TanhFn>::Kernel, FloatAndComplexList);

SLUICE_FUNCTOR(PlainSigmoidFn, CallsLibrary(0.4), (T x), SigmoidOf(x));
struct SigmoidFn : PlainSigmoidFn {
  static constexpr auto kAvx512 = SigmoidAvx512;
};
KERNELS(Sigmoid, "T", Elementwise<SigmoidFn>::Kernel, FloatAndComplexList);

UNARY_KERNELS(Log, FloatAndComplexList, CallsLibrary(0.6), std::log(x));
UNARY_KERNELS(Expm1, FloatAndComplexList, CallsLibrary(1), Expm1Of(x));
UNARY_KERNELS(Log1p, FloatAndComplexList, CallsLibrary(1), Log1pOf(x));
UNARY_KERNELS(Erf, FloatList, CallsLibrary(1), std::erf(x));
UNARY_KERNELS(Erfc, FloatList, CallsLibrary(1), std::erfc(x));

// The gradients of complex Sigmoid and Tanh pass the conjugate of the result as y.
UNARY_GRAD_KERNELS(SigmoidGrad, FloatAndComplexList, 0.3, (dy * y * (T(1) - y)));
UNARY_GRAD_KERNELS(TanhGrad, FloatAndComplexList, 0.3, (dy * (T(1) - y * y)));

}  // namespace
}  // namespace sluice
