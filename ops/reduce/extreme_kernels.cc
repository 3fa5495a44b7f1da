// Max, Min, Prod, All and Any.
#include <limits>

#include "ops/loops/wrapping.h"
#include "ops/reduce/reduction.h"

namespace sluice {
namespace {

struct ProdOp {
  using Loops = ProdOp;
  template <typename T>
  using Acc = elementwise::Wide<T>;
  template <typename A>
  static constexpr A Identity() {
    return A(1);
  }
  template <typename A, typename T>
  static SLUICE_INLINE_IN_CLONES A Load(T x) {
    return static_cast<A>(x);
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return WrappingMultiply(a, b);
  }
  template <typename T, typename A>
  static T Finish(A a, int64_t) {
    return static_cast<T>(a);
  }
};
KERNELS(Prod, "T", Reduction<ProdOp>::Kernel, NumberList);

struct MaxOp : ProdOp {
  using Loops = MaxOp;
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return a > b || a != a ? a : b;  // a NaN on either side wins
  }
};
KERNELS(Max, "T", Reduction<MaxOp>::Kernel, RealList);

struct MinOp : ProdOp {
  using Loops = MinOp;
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::max();
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return a < b || a != a ? a : b;
  }
};
KERNELS(Min, "T", Reduction<MinOp>::Kernel, RealList);

struct AllOp : ProdOp {
  using Loops = AllOp;
  template <typename T>
  using Acc = bool;
  template <typename A>
  static constexpr A Identity() {
    return true;
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return a & b;
  }
};
KERNEL(All, Reduction<AllOp>::Kernel<bool>);

struct AnyOp : AllOp {
  using Loops = AnyOp;
  template <typename A>
  static constexpr A Identity() {
    return false;
  }
  template <typename A>
  static SLUICE_INLINE_IN_CLONES A Combine(A a, A b) {
    return a | b;
  }
};
KERNEL(Any, Reduction<AnyOp>::Kernel<bool>);

}  // namespace
}  // namespace sluice
