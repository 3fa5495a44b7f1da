#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

// Returns an error if an integer divisor is zero.
template <typename F>
struct IntegerDivision {
  template <typename T>
  class Kernel : public BinaryKernel {
   public:
    Kernel() : BinaryKernel(elementwise::LoopsOf<F, T>()) {}
    bool IsLoopsAlone() const override { return false; }

   protected:
    absl::Status Check(const Tensor& x, const Tensor& y) const override {
      bool zero = false;
      for (T divisor : y.flat<T>()) zero |= divisor == 0;
      SLUICE_INVALID_IF(zero && x.num_elements() > 0, "Integer division by zero");
      return absl::OkStatus();
    }
  };
};

// Returns x / y. The lowest number divided by -1 wraps around, while the processor would trap.
template <typename T>
T IntQuotient(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return WrappingNegate(x);
  }
  return static_cast<T>(x / y);
}
template <typename T>
T IntRemainder(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return 0;
  }
  return static_cast<T>(x % y);
}

template <typename T>
SLUICE_INLINE_IN_CLONES T QuotientNoNan(T x, T y) {
  const T quotient = x / y;
  return y == T(0) ? T(0) : quotient;
}

template <typename T>
SLUICE_INLINE_IN_CLONES T TruncatedQuotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return IntQuotient(x, y);
  } else {
    return std::trunc(x / y);
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T FlooredQuotient(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    const T quotient = IntQuotient(x, y);
    const bool down = std::is_signed_v<T> && (x < 0) != (y < 0) && IntRemainder(x, y) != 0;
    return static_cast<T>(quotient - (down ? 1 : 0));
  } else {
    return std::floor(x / y);
  }
}

template <typename T>
T TruncatedRemainder(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return IntRemainder(x, y);
  } else {
    return std::fmod(x, y);
  }
}

template <typename T>
T FlooredRemainder(T x, T y) {
  const T remainder = TruncatedRemainder(x, y);
  const bool other_sign = remainder != 0 && (remainder < 0) != (y < 0);
  return other_sign ? static_cast<T>(remainder + y) : remainder;
}

BINARY_KERNELS(RealDiv, FloatAndComplexList, RoundsOnce(0.4), x / y);
BINARY_KERNELS(DivNoNan, FloatAndComplexList, 0.4, QuotientNoNan(x, y));
BINARY_KERNELS(TruncateDiv, FloatList, 1, TruncatedQuotient(x, y));
KERNELS(TruncateDiv, "T", IntegerDivision<TruncateDivFn>::Kernel, IntList);
KERNELS(Div, "T", Binary<RealDivFn>::Kernel, FloatAndComplexList);
KERNELS(Div, "T", IntegerDivision<TruncateDivFn>::Kernel, IntList);
BINARY_KERNELS(FloorDiv, FloatList, 1, FlooredQuotient(x, y));
KERNELS(FloorDiv, "T", IntegerDivision<FloorDivFn>::Kernel, IntList);
BINARY_KERNELS(FloorMod, FloatList, 3, FlooredRemainder(x, y));
KERNELS(FloorMod, "T", IntegerDivision<FloorModFn>::Kernel, IntList);
BINARY_KERNELS(TruncateMod, FloatAndDoubleList, 3, TruncatedRemainder(x, y));
KERNELS(TruncateMod, "T", IntegerDivision<TruncateModFn>::Kernel, IndexList);
KERNELS(Mod, "T", Binary<TruncateModFn>::Kernel, FloatAndDoubleList);
KERNELS(Mod, "T", IntegerDivision<TruncateModFn>::Kernel, IndexList);

}  // namespace
}  // namespace sluice
