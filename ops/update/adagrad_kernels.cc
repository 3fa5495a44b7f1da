#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec AdagradSpec() {
  return {.slots = {"var", "accum"}, .scalars = {{"lr", "lr is not a scalar: "}}};
}

template <typename T>
SLUICE_TARGET_CLONES void Adagrad(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  if (c.update_slots) {
    SLUICE_UPDATE_LOOP { accum[i] = accum[i] + grad[i] * grad[i]; }
  }
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * lr * ReciprocalSqrt(accum[i]); }
}

UpdateSpec AdagradV2Spec() {
  return {.slots = {"var", "accum"},
          .scalars = {{"lr", "lr is not a scalar: "}, {"epsilon", "epsilon is not a scalar: "}}};
}

template <typename T>
SLUICE_TARGET_CLONES void AdagradV2(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T epsilon = c.scalar<T>(1);
  if (c.update_slots) {
    SLUICE_UPDATE_LOOP { accum[i] = accum[i] + grad[i] * grad[i]; }
  }
  SLUICE_UPDATE_LOOP { var[i] = var[i] - grad[i] * lr / (Sqrt(accum[i]) + epsilon); }
}

UpdateSpec AdagradDASpec() {
  return {.slots = {"var", "gradient_accumulator", "gradient_squared_accumulator"},
          .scalars = {{"lr", "lr is not a scalar: "},
                      {"l1", "l1 regularization strength is not a scalar: "},
                      {"l2", "l2 regularization strength is not a scalar: "}},
          .slot_labels = {"var", "accum", "accum"}};
}

template <typename T>
SLUICE_TARGET_CLONES void AdagradDA(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* sum = c.slot<T>(1) + row;
  T* squares = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T l1 = c.scalar<T>(1);
  const T step = static_cast<T>(c.global_step);
  const T ridge = c.scalar<T>(2) * lr * step;
  const T threshold = l1 > T(0) ? l1 * step : T(0);
  SLUICE_UPDATE_LOOP {
    sum[i] = sum[i] + grad[i];
    squares[i] = squares[i] + grad[i] * grad[i];
    const T shrunk = SignOf(sum[i]) * Larger(Magnitude(sum[i]) - threshold, T(0));
    var[i] = -lr * shrunk / (ridge + Sqrt(squares[i]));
  }
}

UpdateSpec ProximalAdagradSpec() {
  using enum ScalarSpec::Domain;
  return {.slots = {"var", "accum"},
          .scalars = {
              {"lr", "lr is not a positive scalar: ", kPositive},
              {"l1", "l1 regularization strength is not a non-negative scalar: ", kNonNegative},
              {"l2", "l2 regularization strength is not a non-negative scalar: ", kNonNegative}}};
}

template <typename T>
SLUICE_TARGET_CLONES void ProximalAdagrad(const UpdateCall& c, int64_t row, int64_t begin,
                                          int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* accum = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T l1 = c.scalar<T>(1);
  const T l2 = c.scalar<T>(2);
  SLUICE_UPDATE_LOOP {
    accum[i] = accum[i] + grad[i] * grad[i];
    const T rate = ReciprocalSqrt(accum[i]) * lr;
    const T p = var[i] - grad[i] * rate;
    var[i] = SignOf(p) * Larger(Magnitude(p) - rate * l1, T(0)) / (T(1) + l2 * rate);
  }
}

SLUICE_UPDATE(Adagrad, AdagradSpec, Adagrad);
SLUICE_UPDATE(AdagradV2, AdagradV2Spec, AdagradV2);
SLUICE_UPDATE(AdagradDA, AdagradDASpec, AdagradDA);
SLUICE_UPDATE(ProximalAdagrad, ProximalAdagradSpec, ProximalAdagrad);

using DATypes = TypeList<float, double>;
KERNELS(ApplyAdagrad, "T", AdagradUpdate, UpdateTypes);
KERNELS(ResourceApplyAdagrad, "T", AdagradUpdate, UpdateTypes);
KERNELS(SparseApplyAdagrad, "T", AdagradUpdate, UpdateTypes);
KERNELS(ResourceSparseApplyAdagrad, "T", AdagradUpdate, UpdateTypes);
KERNELS(ApplyAdagradV2, "T", AdagradV2Update, UpdateTypes);
KERNELS(ResourceApplyAdagradV2, "T", AdagradV2Update, UpdateTypes);
KERNELS(SparseApplyAdagradV2, "T", AdagradV2Update, UpdateTypes);
KERNELS(ResourceSparseApplyAdagradV2, "T", AdagradV2Update, UpdateTypes);
KERNELS(ApplyAdagradDA, "T", AdagradDAUpdate, DATypes);
KERNELS(ResourceApplyAdagradDA, "T", AdagradDAUpdate, DATypes);
KERNELS(SparseApplyAdagradDA, "T", AdagradDAUpdate, DATypes);
KERNELS(ResourceSparseApplyAdagradDA, "T", AdagradDAUpdate, DATypes);
KERNELS(ApplyProximalAdagrad, "T", ProximalAdagradUpdate, FloatList);
KERNELS(ResourceApplyProximalAdagrad, "T", ProximalAdagradUpdate, FloatList);
KERNELS(SparseApplyProximalAdagrad, "T", ProximalAdagradUpdate, FloatList);
KERNELS(ResourceSparseApplyProximalAdagrad, "T", ProximalAdagradUpdate, FloatList);

}  // namespace
}  // namespace sluice
