#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec MomentumSpec() {
  return {.slots = {"var", "accum"},
          .scalars = {{"lr", "lr is not a scalar: "}, {"momentum", "momentum is not a scalar: "}},
          .cost = 0.6};
}

UpdateSpec SparseMomentumSpec() {
  UpdateSpec spec = MomentumSpec();
  spec.scalars[0].message = "lr is not a scalar : ";
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void Momentum(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T momentum = c.scalar<T>(1);
  if (c.nesterov) {
    SLUICE_UPDATE_LOOP {
      accum[i] = accum[i] * momentum + grad[i];
      var[i] = var[i] - (grad[i] * lr + accum[i] * momentum * lr);
    }
  } else {
    SLUICE_UPDATE_LOOP {
      accum[i] = accum[i] * momentum + grad[i];
      var[i] = var[i] - accum[i] * lr;
    }
  }
}

template <typename T>
SLUICE_TARGET_CLONES void KerasMomentum(const UpdateCall& c, int64_t row, int64_t begin,
                                        int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T momentum = c.scalar<T>(1);
  if (c.nesterov) {
    SLUICE_UPDATE_LOOP {
      accum[i] = accum[i] * momentum - grad[i] * lr;
      var[i] = var[i] + (accum[i] * momentum - grad[i] * lr);
    }
  } else {
    SLUICE_UPDATE_LOOP {
      accum[i] = accum[i] * momentum - grad[i] * lr;
      var[i] = var[i] + accum[i];
    }
  }
}

SLUICE_UPDATE(Momentum, MomentumSpec, Momentum);
SLUICE_UPDATE(SparseMomentum, SparseMomentumSpec, Momentum);
SLUICE_UPDATE(KerasMomentum, MomentumSpec, KerasMomentum);
SLUICE_UPDATE(SparseKerasMomentum, SparseMomentumSpec, KerasMomentum);

KERNELS(ApplyMomentum, "T", MomentumUpdate, UpdateTypes);
KERNELS(ResourceApplyMomentum, "T", MomentumUpdate, UpdateTypes);
KERNELS(SparseApplyMomentum, "T", SparseMomentumUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyMomentum, "T", SparseMomentumUpdate, UpdateTypes);
KERNELS(ResourceApplyKerasMomentum, "T", KerasMomentumUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyKerasMomentum, "T", SparseKerasMomentumUpdate, UpdateTypes);

}  // namespace
}  // namespace sluice
