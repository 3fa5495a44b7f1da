// The update loops of Adam, AMSGrad, AdaMax, AdamW and AdamAsync.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

// Returns the learning rate, corrected for moments that start at zero.
template <typename T, const UpdateRule& kRule>
T AdamRate(const UpdateCall<kRule, T>& c) {
  return c.scalar("lr") * Sqrt(T(1) - c.scalar("beta2_power")) / (T(1) - c.scalar("beta1_power"));
}

// The loop of Adam, and of AdamW, which first decays the variable.
template <const UpdateRule& kRule, typename T>
SLUICE_INLINE_IN_CLONES void AdamLoop(const UpdateCall<kRule, T>& c, int64_t begin, int64_t end) {
  constexpr bool kDecays = &kRule == &kAdamW;
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  const T* grad = c.grad();
  const T alpha = AdamRate(c);
  T share = T(0);
  if constexpr (kDecays) share = c.scalar("lr") * c.scalar("weight_decay");
  const T one_minus_beta1 = T(1) - c.scalar("beta1");
  const T one_minus_beta2 = T(1) - c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
    T decayed = var[i];
    if constexpr (kDecays) decayed = decayed - decayed * share;
    var[i] = decayed - m[i] * alpha / (Sqrt(v[i]) + epsilon);
  }
}

template <typename T>
SLUICE_TARGET_CLONES void Adam(const UpdateCall<kAdam, T>& c, int64_t begin, int64_t end) {
  if (!c.flag("use_nesterov")) return AdamLoop(c, begin, end);
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  const T* grad = c.grad();
  const T alpha = AdamRate(c);
  const T beta1 = c.scalar("beta1");
  const T one_minus_beta1 = T(1) - beta1;
  const T one_minus_beta2 = T(1) - c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
    const T ahead = grad[i] * one_minus_beta1 + beta1 * m[i];
    var[i] = var[i] - ahead * alpha / (Sqrt(v[i]) + epsilon);
  }
}
UPDATE_KERNELS(Adam, 1.5, UpdateTypes);

template <typename T>
SLUICE_TARGET_CLONES void AdamWithAmsgrad(const UpdateCall<kAdamWithAmsgrad, T>& c, int64_t begin,
                                          int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  T* vhat = c.slot("vhat");
  const T* grad = c.grad();
  const T alpha = AdamRate(c);
  const T one_minus_beta1 = T(1) - c.scalar("beta1");
  const T one_minus_beta2 = T(1) - c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
    vhat[i] = Larger(vhat[i], v[i]);
    var[i] = var[i] - m[i] * alpha / (Sqrt(vhat[i]) + epsilon);
  }
}
UPDATE_KERNELS(AdamWithAmsgrad, 1.5, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void AdaMax(const UpdateCall<kAdaMax, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  const T* grad = c.grad();
  const T rate = c.scalar("lr") / (T(1) - c.scalar("beta1_power"));
  const T one_minus_beta1 = T(1) - c.scalar("beta1");
  const T beta2 = c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = Larger(beta2 * v[i], Magnitude(grad[i]));
    var[i] = var[i] - rate * (m[i] / (v[i] + epsilon));
  }
}
UPDATE_KERNELS(AdaMax, 1.5, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void AdamW(const UpdateCall<kAdamW, T>& c, int64_t begin, int64_t end) {
  AdamLoop(c, begin, end);
}
UPDATE_KERNELS(AdamW, 1.5, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void AdamAsync(const UpdateCall<kAdamAsync, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T alpha = AdamRate(c);
  const T beta1 = c.scalar("beta1");
  const T beta2 = c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  if (c.flag("apply_sparse_rmsprop")) {
    SLUICE_UPDATE_LOOP {
      v[i] = v[i] * beta2 + grad[i] * grad[i] * (T(1) - beta2);
      m[i] = m[i] * beta1 + ReciprocalSqrt(v[i] + epsilon) * lr * grad[i];
      var[i] = var[i] - m[i];
    }
  } else {
    SLUICE_UPDATE_LOOP {
      m[i] = m[i] * beta1 + grad[i] * (T(1) - beta1);
      v[i] = v[i] * beta2 + grad[i] * grad[i] * (T(1) - beta2);
      var[i] = var[i] - m[i] * alpha / (Sqrt(v[i]) + epsilon);
    }
  }
}
UPDATE_KERNELS(AdamAsync, 1.5, FloatList);

}  // namespace
}  // namespace sluice
