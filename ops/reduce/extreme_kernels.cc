#include <limits>

#include "ops/loops/wrapping.h"
#include "ops/reduce/reduction.h"

namespace sluice {
namespace {

template <typename A>
constexpr A LowestOf() {
  using Limits = std::numeric_limits<A>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}
template <typename A>
constexpr A HighestOf() {
  using Limits = std::numeric_limits<A>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

REDUCTION_KERNELS(Prod, NumberList, A(1), WrappingMultiply(a, b));
// If an element is NaN, the result is NaN.
REDUCTION_KERNELS(Max, RealList, LowestOf<A>(), a > b || a != a ? a : b);
REDUCTION_KERNELS(Min, RealList, HighestOf<A>(), a < b || a != a ? a : b);

SLUICE_REDUCTION(AllReduction, true, (a & b));
SLUICE_REDUCTION(AnyReduction, false, a | b);
KERNEL(All, Reduction<AllReduction>::Kernel<bool>);
KERNEL(Any, Reduction<AnyReduction>::Kernel<bool>);

}  // namespace
}  // namespace sluice
