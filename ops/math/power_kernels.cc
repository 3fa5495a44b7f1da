#include <cmath>

#include "ops/loops/elementwise.h"
#include "ops/loops/same_size.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

struct SquareFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return WrappingMultiply(x, x);
  }
};
KERNELS(Square, "T", Elementwise<SquareFn>::Kernel, NumberList);

struct SqrtFn {
  static constexpr double kCost = 0.4;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return std::sqrt(x);
  }
};
KERNELS(Sqrt, "T", Elementwise<SqrtFn>::Kernel, FloatAndComplexList);

struct RsqrtFn {
  static constexpr double kCost = 0.6;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};
KERNELS(Rsqrt, "T", Elementwise<RsqrtFn>::Kernel, FloatAndComplexList);

struct ReciprocalFn {
  static constexpr double kCost = 0.4;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return T(1) / x;
  }
};
KERNELS(Reciprocal, "T", Elementwise<ReciprocalFn>::Kernel, FloatAndComplexList);
KERNELS(Inv, "T", Elementwise<ReciprocalFn>::Kernel, FloatAndComplexList);

template <typename T>
SLUICE_INLINE_IN_CLONES T Conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

struct SqrtGradFn {
  static constexpr double kCost = 0.4;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T dy) const {
    return T(0.5) * dy / Conjugate(y);
  }
};
KERNELS(SqrtGrad, "T", SameSize<SqrtGradFn>::Kernel, FloatAndComplexList);

struct RsqrtGradFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T dy) const {
    const T c = Conjugate(y);
    return T(-0.5) * (dy * c) * (c * c);
  }
};
KERNELS(RsqrtGrad, "T", SameSize<RsqrtGradFn>::Kernel, FloatAndComplexList);

struct ReciprocalGradFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T dy) const {
    const T c = Conjugate(y);
    return -c * (dy * c);
  }
};
KERNELS(ReciprocalGrad, "T", SameSize<ReciprocalGradFn>::Kernel, FloatAndComplexList);
KERNELS(InvGrad, "T", SameSize<ReciprocalGradFn>::Kernel, FloatAndComplexList);

}  // namespace
}  // namespace sluice
