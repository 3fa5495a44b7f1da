// The update loops of plain and proximal gradient descent.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void GradientDescent(const UpdateCall<kGradientDescent, T>& c, int64_t begin,
                                          int64_t end) {
  T* var = c.var();
  const T* grad = c.grad();
  const T alpha = c.scalar("alpha");
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * alpha; }
}
UPDATE_KERNELS(GradientDescent, 0.4, UpdateTypes);

template <typename T>
SLUICE_TARGET_CLONES void ProximalGradientDescent(const UpdateCall<kProximalGradientDescent, T>& c,
                                                  int64_t begin, int64_t end) {
  T* var = c.var();
  const T* grad = c.grad();
  const T alpha = c.scalar("alpha");
  const T l1 = c.scalar("l1");
  const T divisor = T(1) + c.scalar("l2") * alpha;
  const T threshold = l1 > T(0) ? l1 * alpha : T(0);
  SLUICE_UPDATE_LOOP {
    const T p = var[i] - grad[i] * alpha;
    var[i] = SignOf(p) * Larger(Magnitude(p) - threshold, T(0)) / divisor;
  }
}
UPDATE_KERNELS(ProximalGradientDescent, 1, FloatList);

}  // namespace
}  // namespace sluice
