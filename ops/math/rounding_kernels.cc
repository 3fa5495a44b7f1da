#include <cmath>
#include <limits>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/wrapping.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T AbsOf(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x < 0 ? WrappingNegate(x) : x;
  } else {
    return std::abs(x);
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T SignOf(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x > 0 ? T(1) : (x < 0 ? T(-1) : x);  // keeps NaN
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>((x > 0) - (x < 0));
  } else {
    const auto size = std::abs(x);
    return size == 0 ? T(0) : x / size;
  }
}

// Rounds halves to even, because nothing changes the processor's rounding mode.
template <typename T>
SLUICE_INLINE_IN_CLONES T RoundOf(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return std::nearbyint(x);
  }
}

using AbsList = JoinTypes<FloatList, SignedIntList>::type;
using RoundList = JoinTypes<FloatList, IndexList>::type;

UNARY_KERNELS(Abs, AbsList, 0.2, AbsOf(x));
UNARY_KERNELS(Neg, SignedNumberList, 0.2, WrappingNegate(x));
UNARY_KERNELS(Sign, SignedNumberList, 0.3, SignOf(x));
UNARY_KERNELS(Ceil, FloatList, 0.2, std::ceil(x));
UNARY_KERNELS(Floor, FloatList, 0.2, std::floor(x));
UNARY_KERNELS(Rint, FloatAndDoubleList, 0.2, std::nearbyint(x));
UNARY_KERNELS(Round, RoundList, 0.2, RoundOf(x));
UNARY_KERNELS(IsFinite, FloatList, 0.2, std::abs(x) <= std::numeric_limits<T>::max());
UNARY_KERNELS(IsInf, FloatList, 0.2, std::abs(x) > std::numeric_limits<T>::max());
UNARY_KERNELS(IsNan, FloatList, 0.2, x != x);
BINARY_KERNELS(NextAfter, FloatAndDoubleList, 3, std::nextafter(x, y));

}  // namespace
}  // namespace sluice
