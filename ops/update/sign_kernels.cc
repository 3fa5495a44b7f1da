#include "ops/update/update_math.h"

namespace sluice {
namespace {

UpdateSpec SignSpec(std::string base) {
  return {.slots = {"var", "m"},
          .scalars = {{"lr", "lr is not a scalar: "},
                      {base, base + " is not a scalar: "},
                      {"sign_decay", "sign_decay is not a scalar: "},
                      {"beta", "beta is not a scalar: "}}};
}
UpdateSpec AddSignSpec() { return SignSpec("alpha"); }
UpdateSpec PowerSignSpec() { return SignSpec("logbase"); }

template <typename T>
SLUICE_TARGET_CLONES void AddSign(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* m = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T alpha = c.scalar<T>(1);
  const T sign_decay = c.scalar<T>(2);
  const T beta = c.scalar<T>(3);
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] * beta + grad[i] * (T(1) - beta);
    const T agreement = SignOf(grad[i]) * SignOf(m[i]);
    var[i] = var[i] - lr * (alpha + sign_decay * agreement) * grad[i];
  }
}

template <typename T>
SLUICE_TARGET_CLONES void PowerSign(const UpdateCall& c, int64_t row, int64_t begin, int64_t end) {
  T* var = c.slot<T>(0) + row;
  T* m = c.slot<T>(1) + row;
  const T* grad = c.gradient<T>();
  const T lr = c.scalar<T>(0);
  const T beta = c.scalar<T>(3);
  // The agreement of the signs is 1, 0 or -1: three factors do for all elements.
  const T exponent = c.scalar<T>(1) * c.scalar<T>(2);
  const T agreeing = T(std::exp(static_cast<double>(exponent)));
  const T opposed = T(std::exp(-static_cast<double>(exponent)));
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] * beta + grad[i] * (T(1) - beta);
    const T agreement = SignOf(grad[i]) * SignOf(m[i]);
    const T scale = agreement > T(0) ? agreeing : (agreement < T(0) ? opposed : T(1));
    var[i] = var[i] - lr * scale * grad[i];
  }
}

SLUICE_UPDATE(AddSign, AddSignSpec, AddSign);
SLUICE_UPDATE(PowerSign, PowerSignSpec, PowerSign);

KERNELS(ApplyAddSign, "T", AddSignUpdate, FloatList);
KERNELS(ResourceApplyAddSign, "T", AddSignUpdate, FloatList);
KERNELS(ApplyPowerSign, "T", PowerSignUpdate, FloatList);
KERNELS(ResourceApplyPowerSign, "T", PowerSignUpdate, FloatList);

}  // namespace
}  // namespace sluice
