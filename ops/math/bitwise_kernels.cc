#include <algorithm>
#include <bit>
#include <type_traits>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

struct AndFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(T x, T y) const {
    return x & y;
  }
};
struct OrFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(T x, T y) const {
    return x | y;
  }
};
struct XorFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(T x, T y) const {
    return x ^ y;
  }
};
struct InvertFn {
  static constexpr double kCost = 0.2;
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

// Kernels that do not look at the sign are those of unsigned numbers.
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

struct LeftShiftFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << LimitedShift(y));
  }
};
struct RightShiftFn {
  static constexpr double kCost = 0.3;
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(x >> LimitedShift(y));
  }
};
KERNELS(LeftShift, "T", Binary<LeftShiftFn>::Kernel, IntList);
KERNELS(RightShift, "T", Binary<RightShiftFn>::Kernel, IntList);

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
