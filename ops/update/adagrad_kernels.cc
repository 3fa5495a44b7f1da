// The update loops of Adagrad and its variants.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void Adagrad(const UpdateCall<kAdagrad, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  if (c.flag("update_slots")) {
    SLUICE_UPDATE_LOOP { accum[i] = accum[i] + grad[i] * grad[i]; }
  }
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * lr * ReciprocalSqrt(accum[i]); }
}
UPDATE_KERNELS(Adagrad, 1, UpdateTypes);

template <typename T>
SLUICE_TARGET_CLONES void AdagradV2(const UpdateCall<kAdagradV2, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T epsilon = c.scalar("epsilon");
  if (c.flag("update_slots")) {
    SLUICE_UPDATE_LOOP { accum[i] = accum[i] + grad[i] * grad[i]; }
  }
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * lr / (Sqrt(accum[i]) + epsilon); }
}
UPDATE_KERNELS(AdagradV2, 1, UpdateTypes);

using AdagradDATypes = TypeList<float, double>;
template <typename T>
SLUICE_TARGET_CLONES void AdagradDA(const UpdateCall<kAdagradDA, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* sum = c.slot("gradient_accumulator");
  T* squares = c.slot("gradient_squared_accumulator");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T l1 = c.scalar("l1");
  const T step = static_cast<T>(c.integer("global_step"));
  const T ridge = c.scalar("l2") * lr * step;
  const T threshold = l1 > T(0) ? l1 * step : T(0);
  SLUICE_UPDATE_LOOP {
    sum[i] = sum[i] + grad[i];
    squares[i] = squares[i] + grad[i] * grad[i];
    const T shrunk = SignOf(sum[i]) * Larger(Magnitude(sum[i]) - threshold, T(0));
    var[i] = -lr * shrunk / (ridge + Sqrt(squares[i]));
  }
}
UPDATE_KERNELS(AdagradDA, 1, AdagradDATypes);

template <typename T>
SLUICE_TARGET_CLONES void ProximalAdagrad(const UpdateCall<kProximalAdagrad, T>& c, int64_t begin,
                                          int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T l1 = c.scalar("l1");
  const T l2 = c.scalar("l2");
  SLUICE_UPDATE_LOOP {
    accum[i] = accum[i] + grad[i] * grad[i];
    const T rate = ReciprocalSqrt(accum[i]) * lr;
    const T p = var[i] - grad[i] * rate;
    var[i] = SignOf(p) * Larger(Magnitude(p) - rate * l1, T(0)) / (T(1) + l2 * rate);
  }
}
UPDATE_KERNELS(ProximalAdagrad, 1, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void AdagradDecay(const UpdateCall<kAdagradDecay, T>& c, int64_t begin,
                                       int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  T* power = c.slot("accum_decay_power");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T rate = c.scalar("accum_decay_rate");
  const T baseline = c.scalar("accum_baseline");
  const T due = static_cast<T>(c.integer("global_step") / c.integer("accum_decay_step"));
  SLUICE_UPDATE_LOOP {
    const bool decays = due > power[i];
    const T kept = decays ? Larger(accum[i] * rate, baseline) : accum[i];
    power[i] = decays ? power[i] + T(1) : power[i];
    accum[i] = kept + grad[i] * grad[i];
    var[i] = var[i] - grad[i] * lr * ReciprocalSqrt(accum[i]);
  }
}
UPDATE_KERNELS(AdagradDecay, 1, FloatList);

}  // namespace
}  // namespace sluice
