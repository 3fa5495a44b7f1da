#include <algorithm>
#include <bit>
#include <type_traits>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

SLUICE_FUNCTOR(AndFn, 0.2, (T x, T y), (x & y));
SLUICE_FUNCTOR(OrFn, 0.2, (T x, T y), (x | y));
SLUICE_FUNCTOR(XorFn, 0.2, (T x, T y), (x ^ y));
SLUICE_FUNCTOR(InvertFn, 0.2, (T x), ~x);

// Kernels that do not depend on the sign serve signed and unsigned integers.
#define SLUICE_UNSIGNED_KERNELS(op, kernel)                   \
  KERNEL(op, kernel<uint8_t>, {"T", {DT_INT8, DT_UINT8}});    \
  KERNEL(op, kernel<uint16_t>, {"T", {DT_INT16, DT_UINT16}}); \
  KERNEL(op, kernel<uint32_t>, {"T", {DT_INT32, DT_UINT32}}); \
  KERNEL(op, kernel<uint64_t>, {"T", {DT_INT64, DT_UINT64}})
SLUICE_UNSIGNED_KERNELS(BitwiseAnd, Binary<AndFn>::Kernel);
SLUICE_UNSIGNED_KERNELS(BitwiseOr, Binary<OrFn>::Kernel);
SLUICE_UNSIGNED_KERNELS(BitwiseXor, Binary<XorFn>::Kernel);
SLUICE_UNSIGNED_KERNELS(Invert, Elementwise<InvertFn>::Kernel);
#undef SLUICE_UNSIGNED_KERNELS

template <typename T>
T LimitedShift(T y) {
  return std::clamp<T>(y, T(0), static_cast<T>(sizeof(T) * 8 - 1));
}
BINARY_KERNELS(LeftShift, IntList, 0.3, static_cast<std::make_unsigned_t<T>>(x) << LimitedShift(y));
BINARY_KERNELS(RightShift, IntList, 0.3, x >> LimitedShift(y));

struct PopulationCountFn {
  static constexpr double kCost = 0.5;
  template <typename T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};
KERNELS(PopulationCount, "T", Elementwise<PopulationCountFn>::Kernel, IntList);

}  // namespace
}  // namespace sluice
