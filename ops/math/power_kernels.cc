#include <cmath>

#include "ops/loops/elementwise.h"
#include "ops/loops/same_size.h"
#include "ops/loops/wrapping.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T Conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T RsqrtGradOf(T y, T dy) {
  const T c = Conjugate(y);
  return T(-0.5) * (dy * c) * (c * c);
}

template <typename T>
SLUICE_INLINE_IN_CLONES T ReciprocalGradOf(T y, T dy) {
  const T c = Conjugate(y);
  return -c * (dy * c);
}

UNARY_KERNELS(Square, NumberList, 0.2, WrappingMultiply(x, x));
UNARY_KERNELS(Sqrt, FloatAndComplexList, 0.4, std::sqrt(x));
UNARY_KERNELS(Rsqrt, FloatAndComplexList, 0.6, T(1) / std::sqrt(x));
UNARY_KERNELS(Reciprocal, FloatAndComplexList, 0.4, T(1) / x);
KERNELS(Inv, "T", Elementwise<ReciprocalFn>::Kernel, FloatAndComplexList);
UNARY_GRAD_KERNELS(SqrtGrad, FloatAndComplexList, 0.4, (T(0.5) * dy / Conjugate(y)));
UNARY_GRAD_KERNELS(RsqrtGrad, FloatAndComplexList, 0.3, RsqrtGradOf(y, dy));
UNARY_GRAD_KERNELS(ReciprocalGrad, FloatAndComplexList, 0.3, ReciprocalGradOf(y, dy));
KERNELS(InvGrad, "T", SameSize<ReciprocalGradFn>::Kernel, FloatAndComplexList);

}  // namespace
}  // namespace sluice
