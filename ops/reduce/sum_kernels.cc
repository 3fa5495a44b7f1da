#include <cmath>
#include <complex>

#include "ops/loops/wrapping.h"
#include "ops/reduce/reduction.h"

namespace sluice {
namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Sums in the type itself; 16-bit floating numbers in float.
struct SumOp {
  using Loops = SumOp;
  template <typename T>
  using Acc = elementwise::Wide<T>;
  template <typename A>
  static constexpr A Identity() {
    return A(0);
  }
  template <typename A, typename T>
  static SLUICE_INLINE_IN_CLONES A Load(T x) {
    return static_cast<A>(x);
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return WrappingAdd(a, b);
  }
  template <typename T, typename A>
  static T Finish(A a, int64_t) {
    return static_cast<T>(a);
  }
};
KERNELS(Sum, "T", Reduction<SumOp>::Kernel, NumberList);

// Integers are summed in 64 bits.
template <typename T>
struct WideSum {
  using type = elementwise::Wide<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct WideSum<T> {
  using type = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};

struct MeanOp : SumOp {
  template <typename T>
  using Acc = typename WideSum<T>::type;
  template <typename T, typename A>
  static T Finish(A a, int64_t count) {
    if constexpr (std::is_integral_v<T>) {
      return count == 0 ? T(0) : static_cast<T>(a / static_cast<A>(count));
    } else if constexpr (kIsComplex<T>) {
      return count == 0 ? T(0) : a / static_cast<typename T::value_type>(count);
    } else {
      return static_cast<T>(a / static_cast<A>(count));
    }
  }
};
KERNELS(Mean, "T", Reduction<MeanOp>::Kernel, NumberList);

// The sum of squared absolute values, and its root.
struct NormOp : SumOp {
  using Loops = NormOp;
  template <typename T>
  using Acc = typename WideSum<T>::type;
  template <typename A, typename T>
  static SLUICE_INLINE_IN_CLONES A Load(T x) {
    if constexpr (kIsComplex<T>) {
      return A(std::norm(x));
    } else {
      return WrappingMultiply(static_cast<A>(x), static_cast<A>(x));
    }
  }
  template <typename T, typename A>
  static T Finish(A a, int64_t) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::sqrt(static_cast<double>(a)));
    } else {
      return static_cast<T>(std::sqrt(a));
    }
  }
};
KERNELS(EuclideanNorm, "T", Reduction<NormOp>::Kernel, NumberList);

}  // namespace
}  // namespace sluice
