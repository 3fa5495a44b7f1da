#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec AdadeltaSpec() {
  return {.slots = {"var", "accum", "accum_update"},
          .scalars = {{"lr", "lr is not a scalar: "},
                      {"rho", "rho is not a scalar: "},
                      {"epsilon", "epsilon is not a scalar: "}},
          .cost = 1.5};
}

UpdateSpec SparseAdadeltaSpec() {
  UpdateSpec spec = AdadeltaSpec();
  spec.slot_labels = {"var", "accum_grad", "accum_update"};
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void Adadelta(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  T* accum_update = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T rho = c.scalar<T>(1);
  const T one_minus_rho = T(1) - rho;
  const T epsilon = c.scalar<T>(2);
  SLUICE_UPDATE_LOOP {
    accum[i] = accum[i] * rho + grad[i] * grad[i] * one_minus_rho;
    const T update = Sqrt(accum_update[i] + epsilon) * ReciprocalSqrt(accum[i] + epsilon) * grad[i];
    var[i] = var[i] - update * lr;
    accum_update[i] = accum_update[i] * rho + update * update * one_minus_rho;
  }
}

SLUICE_UPDATE(Adadelta, AdadeltaSpec, Adadelta);
SLUICE_UPDATE(SparseAdadelta, SparseAdadeltaSpec, Adadelta);

KERNELS(ApplyAdadelta, "T", AdadeltaUpdate, UpdateTypes);
KERNELS(ResourceApplyAdadelta, "T", AdadeltaUpdate, UpdateTypes);
KERNELS(SparseApplyAdadelta, "T", SparseAdadeltaUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyAdadelta, "T", SparseAdadeltaUpdate, UpdateTypes);

}  // namespace
}  // namespace sluice
