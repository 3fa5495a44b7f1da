#include <cmath>

#include "graph/status.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/same_size.h"
#include "ops/loops/vector_math.h"

namespace sluice {
namespace {

// In these functions, comparisons are written such that NaN yields NaN.
struct ReluFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return x < T(0) ? T(0) : x;
  }
};
KERNELS(Relu, "T", Elementwise<ReluFn>::Kernel, RealList);

struct Relu6Fn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    const T y = x < T(0) ? T(0) : x;
    return y > T(6) ? T(6) : y;
  }
};
KERNELS(Relu6, "T", Elementwise<Relu6Fn>::Kernel, RealList);

struct EluFn {
  static constexpr double kCost = 1;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return x < T(0) ? std::expm1(x) : x;
  }
};
KERNELS(Elu, "T", Elementwise<EluFn>::Kernel, FloatList);

// Source of these constants, which are scale, and scale times alpha: Klambauer et al., 2017.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

struct SeluFn {
  static constexpr double kCost = 1;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return x < T(0) ? T(kSeluScaleAlpha) * std::expm1(x) : T(kSeluScale) * x;
  }
};
KERNELS(Selu, "T", Elementwise<SeluFn>::Kernel, FloatList);

// Computes log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
struct SoftplusFn {
  static constexpr double kCost = 2;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
  }
};
KERNELS(Softplus, "T", Elementwise<SoftplusFn>::Kernel, FloatList);

struct SoftsignFn {
  static constexpr double kCost = 0.5;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return x / (T(1) + std::abs(x));
  }
};
KERNELS(Softsign, "T", Elementwise<SoftsignFn>::Kernel, FloatList);

// Gradients of activations: g is the incoming gradient, and x is the tensor that determines the
// slope.
#define SLUICE_SLOPE_FN(Name, cost, expression)            \
  struct Name {                                            \
    static constexpr double kCost = cost;                  \
    template <typename T>                                  \
    SLUICE_INLINE_IN_CLONES T operator()(T g, T x) const { \
      return expression;                                   \
    }                                                      \
  }
SLUICE_SLOPE_FN(ReluGradFn, 0.3, x > T(0) ? g : T(0));
SLUICE_SLOPE_FN(Relu6GradFn, 0.3, (x > T(0)) & (x < T(6)) ? g : T(0));
SLUICE_SLOPE_FN(EluGradFn, 0.3, x < T(0) ? (x + T(1)) * g : g);
SLUICE_SLOPE_FN(SeluGradFn, 0.3, x < T(0) ? g * (x + T(kSeluScaleAlpha)) : g * T(kSeluScale));
SLUICE_SLOPE_FN(PlainSoftplusGradFn, 1, g / (std::exp(-x) + T(1)));
struct SoftplusGradFn : PlainSoftplusGradFn {
  static constexpr bool kCallsLibrary = true;
};
SLUICE_SLOPE_FN(SoftsignGradFn, 0.5, g / ((T(1) + std::abs(x)) * (T(1) + std::abs(x))));

KERNELS(ReluGrad, "T", SameSize<ReluGradFn>::Kernel, RealList);
KERNELS(Relu6Grad, "T", SameSize<Relu6GradFn>::Kernel, RealList);
KERNELS(EluGrad, "T", SameSize<EluGradFn>::Kernel, FloatList);
KERNELS(SeluGrad, "T", SameSize<SeluGradFn>::Kernel, FloatList);
KERNELS(SoftplusGrad, "T", SameSize<SoftplusGradFn>::Kernel, FloatList);
KERNELS(SoftsignGrad, "T", SameSize<SoftsignGradFn>::Kernel, FloatList);

}  // namespace
}  // namespace sluice
