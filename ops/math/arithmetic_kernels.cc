#include <string>

#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

struct AddFn {
  static constexpr double kCost = 0.2;
  static constexpr bool kRoundsOnce = true;
  static constexpr FloatOp kFloatOp = FloatOp::kAdd;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(const T& x, const T& y) const {
    return WrappingAdd(x, y);
  }
};
KERNELS(Add, "T", Binary<AddFn>::Kernel,
        TypeList<half, bfloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t,
                 complex64, complex128>);
KERNELS(AddV2, "T", Binary<AddFn>::Kernel, NumberList);

struct JoinFn {
  static constexpr double kCost = 30;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x + y;
  }
};
KERNELS(Add, "T", Binary<JoinFn>::Kernel, TypeList<std::string>);

struct SubFn {
  static constexpr double kCost = 0.2;
  static constexpr bool kRoundsOnce = true;
  static constexpr FloatOp kFloatOp = FloatOp::kSubtract;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    return WrappingSubtract(x, y);
  }
};
KERNELS(Sub, "T", Binary<SubFn>::Kernel, NumberList);

struct MulFn {
  static constexpr double kCost = 0.2;
  static constexpr bool kRoundsOnce = true;
  static constexpr FloatOp kFloatOp = FloatOp::kMultiply;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    return WrappingMultiply(x, y);
  }
};
KERNELS(Mul, "T", Binary<MulFn>::Kernel, NumberList);

struct MulNoNanFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    const T product = x * y;
    return y == T(0) ? T(0) : product;
  }
};
KERNELS(MulNoNan, "T", Binary<MulNoNanFn>::Kernel, JoinTypes<FloatList, ComplexList>::type);

struct SquaredDifferenceFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    const T difference = WrappingSubtract(x, y);
    if constexpr (std::is_arithmetic_v<T>) {
      return WrappingMultiply(difference, difference);
    } else {
      return T(std::norm(difference));
    }
  }
};
KERNELS(SquaredDifference, "T", Binary<SquaredDifferenceFn>::Kernel,
        TypeList<half, bfloat16, float, double, int32_t, int64_t, complex64, complex128>);

struct MaximumFn {
  static constexpr double kCost = 0.2;
  static constexpr bool kRoundsOnce = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    return x > y || x != x ? x : y;  // a NaN on either side wins
  }
};
KERNELS(Maximum, "T", Binary<MaximumFn>::Kernel, RealList);

struct MinimumFn {
  static constexpr double kCost = 0.2;
  static constexpr bool kRoundsOnce = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    return x < y || x != x ? x : y;
  }
};
KERNELS(Minimum, "T", Binary<MinimumFn>::Kernel, RealList);

}  // namespace
}  // namespace sluice
