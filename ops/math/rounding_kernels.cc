#include <cmath>

#include "ops/loops/elementwise.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

using SignedNumberList = TypeList<half, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t,
                                  complex64, complex128>;

struct AbsFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? WrappingNegate(x) : x;
    } else {
      return std::abs(x);
    }
  }
};
KERNELS(Abs, "T", Elementwise<AbsFn>::Kernel,
        TypeList<half, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t>);

struct NegFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return WrappingNegate(x);
  }
};
KERNELS(Neg, "T", Elementwise<NegFn>::Kernel, SignedNumberList);

struct SignFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return x > 0 ? T(1) : (x < 0 ? T(-1) : x);  // a NaN stays one
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>((x > 0) - (x < 0));
    } else {
      const auto size = std::abs(x);
      return size == 0 ? T(0) : x / size;
    }
  }
};
KERNELS(Sign, "T", Elementwise<SignFn>::Kernel, SignedNumberList);

struct CeilFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return std::ceil(x);
  }
};
KERNELS(Ceil, "T", Elementwise<CeilFn>::Kernel, FloatList);

struct FloorFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    return std::floor(x);
  }
};
KERNELS(Floor, "T", Elementwise<FloorFn>::Kernel, FloatList);

struct RoundFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::nearbyint(x);  // to even: nobody changes the rounding mode
    }
  }
};
KERNELS(Rint, "T", Elementwise<RoundFn>::Kernel, TypeList<float, double>);
KERNELS(Round, "T", Elementwise<RoundFn>::Kernel,
        TypeList<half, bfloat16, float, double, int32_t, int64_t>);

struct IsFiniteFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES bool operator()(T x) const {
    return std::abs(x) <= std::numeric_limits<T>::max();
  }
};
KERNELS(IsFinite, "T", Elementwise<IsFiniteFn>::Kernel, FloatList);

struct IsInfFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES bool operator()(T x) const {
    return std::abs(x) > std::numeric_limits<T>::max();
  }
};
KERNELS(IsInf, "T", Elementwise<IsInfFn>::Kernel, FloatList);

struct IsNanFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES bool operator()(T x) const {
    return x != x;
  }
};
KERNELS(IsNan, "T", Elementwise<IsNanFn>::Kernel, FloatList);

}  // namespace
}  // namespace sluice
