#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/vector_math.h"

namespace sluice {
namespace {

using FloatAndComplexList = JoinTypes<FloatList, ComplexList>::type;

// The function of <cmath> and <complex> of that name.
#define SLUICE_TRIGONOMETRIC(Op, function)            \
  struct Op##Fn {                                     \
    static constexpr double kCost = 1;                \
    static constexpr bool kCallsLibrary = true;       \
    template <typename T>                             \
    SLUICE_INLINE_IN_CLONES T operator()(T x) const { \
      return std::function(x);                        \
    }                                                 \
  };                                                  \
  KERNELS(Op, "T", Elementwise<Op##Fn>::Kernel, FloatAndComplexList)

SLUICE_TRIGONOMETRIC(Sin, sin);
SLUICE_TRIGONOMETRIC(Cos, cos);
SLUICE_TRIGONOMETRIC(Tan, tan);
SLUICE_TRIGONOMETRIC(Asin, asin);
SLUICE_TRIGONOMETRIC(Acos, acos);
SLUICE_TRIGONOMETRIC(Atan, atan);
SLUICE_TRIGONOMETRIC(Sinh, sinh);
SLUICE_TRIGONOMETRIC(Cosh, cosh);
SLUICE_TRIGONOMETRIC(Asinh, asinh);
SLUICE_TRIGONOMETRIC(Acosh, acosh);
SLUICE_TRIGONOMETRIC(Atanh, atanh);

struct Atan2Fn {
  static constexpr double kCost = 1.5;
  static constexpr bool kCallsLibrary = true;
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};
KERNELS(Atan2, "T", Binary<Atan2Fn>::Kernel, FloatList);

}  // namespace
}  // namespace sluice
