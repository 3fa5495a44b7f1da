#include <cmath>

#include "ops/loops/broadcast.h"
#include "ops/loops/vector_math.h"
#include "ops/loops/wrapping.h"
#include "ops/math/number_types.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_INLINE_IN_CLONES T PowOf(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    T power = 1;
    for (; y > 0; y >>= 1) {
      if (y & 1) power = WrappingMultiply(power, x);
      x = WrappingMultiply(x, x);
    }
    return power;
  } else {
    return std::pow(x, y);
  }
}
BINARY_KERNELS(Pow, FloatAndComplexList, CallsLibrary(1.5), PowOf(x, y));

template <typename T>
class PowIntKernel : public BinaryKernel {
 public:
  PowIntKernel() : BinaryKernel(elementwise::LoopsOf<PowFn, T>()) {}
  bool IsLoopsAlone() const override { return false; }

 protected:
  absl::Status Check(const Tensor& x, const Tensor& y) const override {
    if (x.num_elements() == 0) return absl::OkStatus();
    for (T exponent : y.flat<T>()) {
      SLUICE_INVALID_IF(exponent < 0, "Integers to negative integer powers are not allowed");
    }
    return absl::OkStatus();
  }
};
KERNELS(Pow, "T", PowIntKernel, SignedIntList);

}  // namespace
}  // namespace sluice
