#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec RmsPropSpec() {
  return {.slots = {"var", "ms", "mom"},
          .scalars = {{"lr", "lr is not a scalar : "},
                      {"rho", "rho is not a scalar: "},
                      {"momentum", "momentum is not a scalar: "},
                      {"epsilon", "epsilon is not a scalar: "}},
          .cost = 1.5};
}

UpdateSpec SparseRmsPropSpec() {
  UpdateSpec spec = RmsPropSpec();
  spec.scalars[0].message = "lr is not a scalar: ";
  return spec;
}

UpdateSpec CenteredSpec() {
  UpdateSpec spec = RmsPropSpec();
  spec.slots = {"var", "mg", "ms", "mom"};
  return spec;
}

UpdateSpec SparseCenteredSpec() {
  UpdateSpec spec = CenteredSpec();
  spec.scalars[0].message = "lr is not a scalar: ";
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void RmsProp(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* ms = c.slot<T>(1) + row;
  T* mom = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T one_minus_rho = T(1) - c.scalar<T>(1);
  const T momentum = c.scalar<T>(2);
  const T epsilon = c.scalar<T>(3);
  SLUICE_UPDATE_LOOP {
    ms[i] = ms[i] + (grad[i] * grad[i] - ms[i]) * one_minus_rho;
    mom[i] = mom[i] * momentum + grad[i] * lr / Sqrt(epsilon + ms[i]);
    var[i] = var[i] - mom[i];
  }
}

template <typename T>
SLUICE_TARGET_CLONES void CenteredRmsProp(const UpdateCall& c, int64_t row, int64_t begin,
                                          int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* mg = c.slot<T>(1) + row;
  T* ms = c.slot<T>(2) + row;
  T* mom = c.slot<T>(3) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T one_minus_rho = T(1) - c.scalar<T>(1);
  const T momentum = c.scalar<T>(2);
  const T epsilon = c.scalar<T>(3);
  SLUICE_UPDATE_LOOP {
    ms[i] = ms[i] + (grad[i] * grad[i] - ms[i]) * one_minus_rho;
    mg[i] = mg[i] + (grad[i] - mg[i]) * one_minus_rho;
    const T variance = (ms[i] - mg[i] * mg[i]) + epsilon;
    mom[i] = mom[i] * momentum + grad[i] * lr / Sqrt(variance);
    var[i] = var[i] - mom[i];
  }
}

SLUICE_UPDATE(RmsProp, RmsPropSpec, RmsProp);
SLUICE_UPDATE(SparseRmsProp, SparseRmsPropSpec, RmsProp);
SLUICE_UPDATE(Centered, CenteredSpec, CenteredRmsProp);
SLUICE_UPDATE(SparseCentered, SparseCenteredSpec, CenteredRmsProp);

KERNELS(ApplyRMSProp, "T", RmsPropUpdate, UpdateTypes);
KERNELS(ResourceApplyRMSProp, "T", RmsPropUpdate, UpdateTypes);
KERNELS(SparseApplyRMSProp, "T", SparseRmsPropUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyRMSProp, "T", SparseRmsPropUpdate, UpdateTypes);
KERNELS(ApplyCenteredRMSProp, "T", CenteredUpdate, UpdateTypes);
KERNELS(ResourceApplyCenteredRMSProp, "T", CenteredUpdate, UpdateTypes);
KERNELS(SparseApplyCenteredRMSProp, "T", SparseCenteredUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyCenteredRMSProp, "T", SparseCenteredUpdate, UpdateTypes);

}  // namespace
}  // namespace sluice
