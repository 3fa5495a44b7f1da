#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec GradientDescentSpec() {
  return {.slots = {"var"},
          .scalars = {{"alpha", "alpha is not a scalar: "}},
          .gradient = "delta",
          .cost = 0.4};
}

template <typename T>
SLUICE_TARGET_CLONES void GradientDescent(const UpdateCall& c, int64_t row, int64_t begin,
                                          int64_t end) {
  T* var = c.slot<T>(0) + row;
  const T* grad = c.gradient<T>();
  const T alpha = c.scalar<T>(0);
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * alpha; }
}

UpdateSpec ProximalSpec() {
  return {.slots = {"var"},
          .scalars = {{"alpha", "alpha is not a scalar: "},
                      {"l1", "l1 regularization strength is not a scalar: "},
                      {"l2", "l2 regularization strength is not a scalar: "}},
          .gradient = "delta"};
}

UpdateSpec SparseProximalSpec() {
  UpdateSpec spec = ProximalSpec();
  spec.scalars[0].message = "lr is not a scalar: ";
  spec.gradient = "grad";
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void ProximalGradientDescent(const UpdateCall& c, int64_t row, int64_t begin,
                                                  int64_t end) {
  T* var = c.slot<T>(0) + row;
  const T* grad = c.gradient<T>();
  const T alpha = c.scalar<T>(0);
  const T l1 = c.scalar<T>(1);
  const T divisor = T(1) + c.scalar<T>(2) * alpha;
  const T threshold = l1 > T(0) ? l1 * alpha : T(0);
  SLUICE_UPDATE_LOOP {
    const T p = var[i] - grad[i] * alpha;
    var[i] = SignOf(p) * Larger(Magnitude(p) - threshold, T(0)) / divisor;
  }
}

SLUICE_UPDATE(GradientDescent, GradientDescentSpec, GradientDescent);
SLUICE_UPDATE(Proximal, ProximalSpec, ProximalGradientDescent);
SLUICE_UPDATE(SparseProximal, SparseProximalSpec, ProximalGradientDescent);

KERNELS(ApplyGradientDescent, "T", GradientDescentUpdate, UpdateTypes);
KERNELS(ResourceApplyGradientDescent, "T", GradientDescentUpdate, UpdateTypes);
KERNELS(ApplyProximalGradientDescent, "T", ProximalUpdate, FloatList);
KERNELS(ResourceApplyProximalGradientDescent, "T", ProximalUpdate, FloatList);
KERNELS(SparseApplyProximalGradientDescent, "T", SparseProximalUpdate, FloatList);
KERNELS(ResourceSparseApplyProximalGradientDescent, "T", SparseProximalUpdate, FloatList);

}  // namespace
}  // namespace sluice
