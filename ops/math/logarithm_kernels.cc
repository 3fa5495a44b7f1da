// Products and quotients that are 0 where the first factor is.
#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/vector_math.h"

namespace sluice {
namespace {

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

struct XlogyFn {
  static constexpr double kCost = 0.8;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    const T product = x * std::log(y);
    return x == T(0) ? T(0) : product;
  }
};
KERNELS(Xlogy, "T", Binary<XlogyFn>::Kernel, FloatAndComplexList);

struct Xlog1pyFn {
  static constexpr double kCost = 0.8;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    T log;
    if constexpr (std::is_floating_point_v<T>) {
      log = std::log1p(y);
    } else {
      log = std::log(T(1) + y);
    }
    const T product = x * log;
    return x == T(0) ? T(0) : product;
  }
};
KERNELS(Xlog1py, "T", Binary<Xlog1pyFn>::Kernel, FloatAndComplexList);

struct XdivyFn {
  static constexpr double kCost = 0.4;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T x, T y) const {
    const T quotient = x / y;
    return x == T(0) ? T(0) : quotient;
  }
};
KERNELS(Xdivy, "T", Binary<XdivyFn>::Kernel, FloatAndComplexList);

}  // namespace
}  // namespace sluice
