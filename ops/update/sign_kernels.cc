// The update loops of AddSign and PowerSign.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
SLUICE_TARGET_CLONES void AddSign(const UpdateCall<kAddSign, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T alpha = c.scalar("alpha");
  const T sign_decay = c.scalar("sign_decay");
  const T beta = c.scalar("beta");
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] * beta + grad[i] * (T(1) - beta);
    const T agreement = SignOf(grad[i]) * SignOf(m[i]);
    var[i] = var[i] - lr * (alpha + sign_decay * agreement) * grad[i];
  }
}
UPDATE_KERNELS(AddSign, 1, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void PowerSign(const UpdateCall<kPowerSign, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T beta = c.scalar("beta");
  // The product of the signs is 1, 0 or -1, so there are only three factors.
  const T exponent = c.scalar("logbase") * c.scalar("sign_decay");
  const T agreeing = T(std::exp(static_cast<double>(exponent)));
  const T opposed = T(std::exp(-static_cast<double>(exponent)));
  SLUICE_UPDATE_LOOP {
    m[i] = m[i] * beta + grad[i] * (T(1) - beta);
    const T agreement = SignOf(grad[i]) * SignOf(m[i]);
    const T scale = agreement > T(0) ? agreeing : (agreement < T(0) ? opposed : T(1));
    var[i] = var[i] - lr * scale * grad[i];
  }
}
UPDATE_KERNELS(PowerSign, 1, FloatList);

}  // namespace
}  // namespace sluice
