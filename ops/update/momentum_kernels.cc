// The update loops of momentum.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void Momentum(const UpdateCall<kMomentum, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T momentum = c.scalar("momentum");
  if (c.flag("use_nesterov")) {
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
UPDATE_KERNELS(Momentum, 0.6, UpdateTypes);

template <typename T>
SLUICE_TARGET_CLONES void KerasMomentum(const UpdateCall<kKerasMomentum, T>& c, int64_t begin,
                                        int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T momentum = c.scalar("momentum");
  if (c.flag("use_nesterov")) {
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
UPDATE_KERNELS(KerasMomentum, 0.6, UpdateTypes);

}  // namespace
}  // namespace sluice
