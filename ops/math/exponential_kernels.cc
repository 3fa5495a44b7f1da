#include <cmath>

#include "ops/loops/elementwise.h"
#include "ops/loops/exponential_avx512.h"
#include "ops/loops/inline_exp.h"
#include "ops/loops/same_size.h"
#include "ops/loops/vector_math.h"

namespace sluice {
namespace {

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

// Functions of one element, all named as <cmath> and <complex> name them.
#define SLUICE_UNARY_FN(Name, cost, expression)       \
  struct Name {                                       \
    static constexpr double kCost = cost;             \
    static constexpr bool kCallsLibrary = true;       \
    template <typename T>                             \
    SLUICE_INLINE_IN_CLONES T operator()(T x) const { \
      return expression;                              \
    }                                                 \
  }

SLUICE_UNARY_FN(LogFn, 0.6, std::log(x));

SLUICE_UNARY_FN(PlainExpFn, 0.4, std::exp(x));
struct ExpFn : PlainExpFn {
  static constexpr auto kAvx512 = [](const float* x, float* y, int64_t n) { ExpAvx512(x, y, n); };
};

SLUICE_UNARY_FN(PlainTanhFn, 0.4, std::tanh(x));
struct TanhFn : PlainTanhFn {
  static constexpr auto kAvx512 = TanhAvx512;
};

struct SigmoidFn {
  static constexpr double kCost = 0.4;
  static constexpr bool kCallsLibrary = true;
  static constexpr auto kAvx512 = SigmoidAvx512;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_same_v<T, float>) {
      return 1.0f / (1.0f + InlineExp(-x));
    } else {
      return T(1) / (T(1) + std::exp(-x));
    }
  }
};

SLUICE_UNARY_FN(ErfFn, 1, std::erf(x));
SLUICE_UNARY_FN(ErfcFn, 1, std::erfc(x));

KERNELS(Exp, "T", Elementwise<ExpFn>::Kernel, FloatAndComplexList);
KERNELS(Log, "T", Elementwise<LogFn>::Kernel, FloatAndComplexList);
KERNELS(Tanh, "T", Elementwise<TanhFn>::Kernel, FloatAndComplexList);
KERNELS(Sigmoid, "T", Elementwise<SigmoidFn>::Kernel, FloatAndComplexList);
KERNELS(Erf, "T", Elementwise<ErfFn>::Kernel, FloatList);
KERNELS(Erfc, "T", Elementwise<ErfcFn>::Kernel, FloatList);

struct Expm1Fn {
  static constexpr double kCost = 1;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::expm1(x);
    } else {
      // Kahan: the rounding error of u = exp(x) is in log(u) too, and cancels.
      const T u = std::exp(x);
      if (u == T(1)) return x;
      if (u - T(1) == T(-1)) return T(-1);
      const T log_u = std::log(u);
      return u == log_u ? u : (u - T(1)) * (x / log_u);
    }
  }
};
KERNELS(Expm1, "T", Elementwise<Expm1Fn>::Kernel, FloatAndComplexList);

struct Log1pFn {
  static constexpr double kCost = 1;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::log1p(x);
    } else {
      const T u = T(1) + x;
      if (u == T(1) || u == x) return u == x ? std::log(u) : x;
      return x * (std::log(u) / (u - T(1)));
    }
  }
};
KERNELS(Log1p, "T", Elementwise<Log1pFn>::Kernel, FloatAndComplexList);

// y as it is: the gradient of a complex Sigmoid or Tanh conjugates it before.
struct SigmoidGradFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};
KERNELS(SigmoidGrad, "T", SameSize<SigmoidGradFn>::Kernel, FloatAndComplexList);

struct TanhGradFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};
KERNELS(TanhGrad, "T", SameSize<TanhGradFn>::Kernel, FloatAndComplexList);

}  // namespace
}  // namespace sluice
