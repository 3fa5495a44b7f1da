// Kernels of products and quotients that are 0 if their first factor is 0.
#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/vector_math.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T ZeroIfZero(T x, T product) {
  return x == T(0) ? T(0) : product;
}

template <typename T>
SLUICE_INLINE_IN_CLONES T Log1pOf(T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::log1p(y);
  } else {
    return std::log(T(1) + y);
  }
}

BINARY_KERNELS(Xlogy, FloatAndComplexList, CallsLibrary(0.8), ZeroIfZero(x, (x * std::log(y))));
BINARY_KERNELS(Xlog1py, FloatAndComplexList, CallsLibrary(0.8), ZeroIfZero(x, (x * Log1pOf(y))));
BINARY_KERNELS(Xdivy, FloatAndComplexList, 0.4, ZeroIfZero(x, x / y));

}  // namespace
}  // namespace sluice
