#include <string>

#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T ProductNoNan(T x, T y) {
  const T product = x * y;
  return y == T(0) ? T(0) : product;
}

template <typename T>
SLUICE_INLINE_IN_CLONES T SquaredDifferenceOf(T x, T y) {
  const T difference = WrappingSubtract(x, y);
  if constexpr (std::is_arithmetic_v<T>) {
    return WrappingMultiply(difference, difference);
  } else {
    return T(std::norm(difference));
  }
}

using SquaredDifferenceList = JoinTypes<FloatAndComplexList, IndexList>::type;
using AddList = JoinTypes<SignedNumberList, TypeList<uint8_t>>::type;
using StringList = TypeList<std::string>;

BINARY_KERNELS(AddV2, NumberList, RoundsOnce(0.2, FloatOp::kAdd), WrappingAdd(x, y));
KERNELS(Add, "T", Binary<AddV2Fn>::Kernel, AddList);
BINARY_KERNELS(Add, StringList, 30, x + y);
BINARY_KERNELS(Sub, NumberList, RoundsOnce(0.2, FloatOp::kSubtract), WrappingSubtract(x, y));
BINARY_KERNELS(Mul, NumberList, RoundsOnce(0.2, FloatOp::kMultiply), WrappingMultiply(x, y));
BINARY_KERNELS(MulNoNan, FloatAndComplexList, 0.2, ProductNoNan(x, y));
BINARY_KERNELS(SquaredDifference, SquaredDifferenceList, 0.2, SquaredDifferenceOf(x, y));
// If an operand is NaN, the result is NaN.
BINARY_KERNELS(Maximum, RealList, RoundsOnce(0.2), x > y || x != x ? x : y);
BINARY_KERNELS(Minimum, RealList, RoundsOnce(0.2), x < y || x != x ? x : y);

}  // namespace
}  // namespace sluice
