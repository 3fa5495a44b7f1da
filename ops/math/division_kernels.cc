#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

// Integers must not be divided by zero.
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
      if (zero && x.num_elements() > 0) return InvalidArgument("Integer division by zero");
      return absl::OkStatus();
    }
  };
};

// The lowest number by -1 does not fit, and traps: it wraps around here.
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

struct RealDivFn {
  static constexpr double kCost = 0.4;
  static constexpr bool kRoundsOnce = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    return x / y;
  }
};
KERNELS(RealDiv, "T", Binary<RealDivFn>::Kernel, FloatAndComplexList);
KERNELS(Div, "T", Binary<RealDivFn>::Kernel, FloatAndComplexList);

struct DivNoNanFn {
  static constexpr double kCost = 0.4;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    const T quotient = x / y;
    return y == T(0) ? T(0) : quotient;
  }
};
KERNELS(DivNoNan, "T", Binary<DivNoNanFn>::Kernel, FloatAndComplexList);

struct TruncateDivFn {
  static constexpr double kCost = 1;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return IntQuotient(x, y);
    } else {
      return std::trunc(x / y);
    }
  }
};
KERNELS(TruncateDiv, "T", Binary<TruncateDivFn>::Kernel, FloatList);
KERNELS(TruncateDiv, "T", IntegerDivision<TruncateDivFn>::Kernel, IntList);
KERNELS(Div, "T", IntegerDivision<TruncateDivFn>::Kernel, IntList);

struct FloorDivFn {
  static constexpr double kCost = 1;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const T quotient = IntQuotient(x, y);
      const bool down = std::is_signed_v<T> && (x < 0) != (y < 0) && IntRemainder(x, y) != 0;
      return static_cast<T>(quotient - (down ? 1 : 0));
    } else {
      return std::floor(x / y);
    }
  }
};
KERNELS(FloorDiv, "T", Binary<FloorDivFn>::Kernel, FloatList);
KERNELS(FloorDiv, "T", IntegerDivision<FloorDivFn>::Kernel, IntList);

struct FloorModFn {
  static constexpr double kCost = 3;
  template <typename T>
  T operator()(T x, T y) const {
    T remainder;
    if constexpr (std::is_integral_v<T>) {
      remainder = IntRemainder(x, y);
    } else {
      remainder = std::fmod(x, y);
    }
    const bool other_sign = remainder != 0 && (remainder < 0) != (y < 0);
    return other_sign ? static_cast<T>(remainder + y) : remainder;
  }
};
KERNELS(FloorMod, "T", Binary<FloorModFn>::Kernel, FloatList);
KERNELS(FloorMod, "T", IntegerDivision<FloorModFn>::Kernel, IntList);

struct TruncateModFn {
  static constexpr double kCost = 3;
  template <typename T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return IntRemainder(x, y);
    } else {
      return std::fmod(x, y);
    }
  }
};
KERNELS(Mod, "T", Binary<TruncateModFn>::Kernel, TypeList<float, double>);
KERNELS(Mod, "T", IntegerDivision<TruncateModFn>::Kernel, IndexList);
KERNELS(TruncateMod, "T", Binary<TruncateModFn>::Kernel, TypeList<float, double>);
KERNELS(TruncateMod, "T", IntegerDivision<TruncateModFn>::Kernel, IndexList);

}  // namespace
}  // namespace sluice
