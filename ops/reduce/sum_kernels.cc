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

REDUCTION_KERNELS(Sum, NumberList, A(0), WrappingAdd(a, b));

// The type of the accumulator of a mean. Integers are added in 64 bits.
template <typename T>
struct WideSum {
  using type = Wide<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct WideSum<T> {
  using type = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
};

struct MeanReduction : SumReduction {
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
KERNELS(Mean, "T", Reduction<MeanReduction>::Kernel, NumberList);

struct NormReduction : SumReduction {
  using Loops = NormReduction;
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
KERNELS(EuclideanNorm, "T", Reduction<NormReduction>::Kernel, NumberList);

}  // namespace
}  // namespace sluice
