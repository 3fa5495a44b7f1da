#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec AdamSpec() {
  return {.slots = {"var", "m", "v"},
          .scalars = {{"beta1_power", "beta1_power is not a scalar: "},
                      {"beta2_power", "beta2_power is not a scalar: "},
                      {"lr", "lr is not a scalar : "},
                      {"beta1", "beta1 is not a scalar: "},
                      {"beta2", "beta2 is not a scalar: "},
                      {"epsilon", "epsilon is not a scalar: "}},
          .cost = 1.5};
}

// lr corrected for the means' start at zero.
template <typename T>
T AdamRate(const UpdateCall& c) {
  return c.scalar<T>(2) * Sqrt(T(1) - c.scalar<T>(1)) / (T(1) - c.scalar<T>(0));
}

template <typename T>
SLUICE_TARGET_CLONES void Adam(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* m = c.slot<T>(1) + row;
  T* v = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const T alpha = AdamRate<T>(c);
  const T beta1 = c.scalar<T>(3);
  const T one_minus_beta1 = T(1) - beta1;
  const T one_minus_beta2 = T(1) - c.scalar<T>(4);
  const T epsilon = c.scalar<T>(5);
  if (c.nesterov) {
    SLUICE_UPDATE_LOOP {
      m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
      v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
      const T ahead = grad[i] * one_minus_beta1 + beta1 * m[i];
      var[i] = var[i] - ahead * alpha / (Sqrt(v[i]) + epsilon);
    }
  } else {
    SLUICE_UPDATE_LOOP {
      m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
      v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
      var[i] = var[i] - m[i] * alpha / (Sqrt(v[i]) + epsilon);
    }
  }
}

UpdateSpec AmsgradSpec() {
  UpdateSpec spec = AdamSpec();
  spec.slots.push_back("vhat");
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void Amsgrad(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* m = c.slot<T>(1) + row;
  T* v = c.slot<T>(2) + row;
  T* vhat = c.slot<T>(3) + row;
  const T* grad = c.gradient<T>();
  const T alpha = AdamRate<T>(c);
  const T one_minus_beta1 = T(1) - c.scalar<T>(3);
  const T one_minus_beta2 = T(1) - c.scalar<T>(4);
  const T epsilon = c.scalar<T>(5);
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
    vhat[i] = Larger(vhat[i], v[i]);
    var[i] = var[i] - m[i] * alpha / (Sqrt(vhat[i]) + epsilon);
  }
}

UpdateSpec AdaMaxSpec() {
  UpdateSpec spec = AdamSpec();
  spec.scalars.erase(spec.scalars.begin() + 1);  // it has no beta2_power
  return spec;
}

template <typename T>
SLUICE_TARGET_CLONES void AdaMax(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* m = c.slot<T>(1) + row;
  T* v = c.slot<T>(2) + row;
  const T* grad = c.gradient<T>();
  const T rate = c.scalar<T>(1) / (T(1) - c.scalar<T>(0));
  const T one_minus_beta1 = T(1) - c.scalar<T>(2);
  const T beta2 = c.scalar<T>(3);
  const T epsilon = c.scalar<T>(4);
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = Larger(beta2 * v[i], Magnitude(grad[i]));
    var[i] = var[i] - rate * (m[i] / (v[i] + epsilon));
  }
}

SLUICE_UPDATE(Adam, AdamSpec, Adam);
SLUICE_UPDATE(Amsgrad, AmsgradSpec, Amsgrad);
SLUICE_UPDATE(AdaMax, AdaMaxSpec, AdaMax);

using AdaMaxTypes = TypeList<half, bfloat16, float, double>;
KERNELS(ApplyAdam, "T", AdamUpdate, UpdateTypes);
KERNELS(ResourceApplyAdam, "T", AdamUpdate, UpdateTypes);
KERNELS(ResourceApplyAdamWithAmsgrad, "T", AmsgradUpdate, FloatList);
KERNELS(ApplyAdaMax, "T", AdaMaxUpdate, AdaMaxTypes);
KERNELS(ResourceApplyAdaMax, "T", AdaMaxUpdate, AdaMaxTypes);

}  // namespace
}  // namespace sluice
