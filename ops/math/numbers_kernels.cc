#include <cmath>
#include <complex>

#include "ops/loops/broadcast.h"
#include "ops/loops/elementwise.h"

namespace sluice {
namespace {

struct AngleFn {
  static constexpr double kCost = 10;
  template <typename T>
  T operator()(std::complex<T> x) const {
    return std::arg(x);
  }
};
using AngleOfFloats = Elementwise<AngleFn>::Kernel<complex64>;
using AngleOfDoubles = Elementwise<AngleFn>::Kernel<complex128>;
KERNEL(Angle, AngleOfFloats, {"T", DT_COMPLEX64}, {"Tout", DT_FLOAT});
KERNEL(Angle, AngleOfDoubles, {"T", DT_COMPLEX128}, {"Tout", DT_DOUBLE});

struct NextAfterFn {
  static constexpr double kCost = 3;
  template <typename T>
  T operator()(T x, T y) const {
    return std::nextafter(x, y);
  }
};
using FloatAndDouble = TypeList<float, double>;
KERNELS(NextAfter, "T", Binary<NextAfterFn>::Kernel, FloatAndDouble);

}  // namespace
}  // namespace sluice
