// The update loops of FTRL.
#include "ops/update/update_math.h"

namespace sluice {
namespace {

template <typename T>
struct FtrlScalars {
  T lr, l1, l2, lr_power, shrinkage;
  bool is_root;  // whether lr_power is -0.5
  bool multiply_linear_by_lr;
};

// Returns n^-lr_power.
template <typename T>
SLUICE_INLINE_IN_CLONES T Scale(const FtrlScalars<T>& s, T n) {
  return s.is_root ? Sqrt(n) : Power(n, -s.lr_power);
}

// Soft-thresholds -x: returns the distance of x from [-bound, bound] with the opposite sign,
// divided by `divisor`. As in TensorFlow, it is 0 for NaN.
template <typename T>
SLUICE_INLINE_IN_CLONES T Shrunk(T x, T bound, T divisor) {
  const T quotient = (Clamp(x, -bound, bound) - x) / divisor;
  return x > bound || x < -bound ? quotient : T(0);
}

template <typename T>
SLUICE_INLINE_IN_CLONES void FtrlStep(const FtrlScalars<T>& s, T grad, T& var, T& accum,
                                      T& linear) {
  const T shrunk = grad + T(2) * s.shrinkage * var;
  const T n = accum + grad * grad;
  const T scale = Scale(s, n);
  const T sigma = scale - Scale(s, accum);
  if (s.multiply_linear_by_lr) {
    linear = linear + shrunk * s.lr - sigma * var;
    var = Shrunk(linear, s.l1 * s.lr, scale + T(2) * s.l2 * s.lr);
  } else {
    linear = linear + shrunk - sigma / s.lr * var;
    var = Shrunk(linear, s.l1, scale / s.lr + T(2) * s.l2);
  }
  accum = n;
}

template <const UpdateRule& kRule, typename T>
SLUICE_INLINE_IN_CLONES void FtrlLoop(const UpdateCall<kRule, T>& c, T shrinkage, int64_t begin,
                                      int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  T* linear = c.slot("linear");
  const T* grad = c.grad();
  const FtrlScalars<T> s = {c.scalar("lr"),
                            c.scalar("l1"),
                            c.scalar("l2"),
                            c.scalar("lr_power"),
                            shrinkage,
                            c.scalar("lr_power") == T(-0.5),
                            c.flag("multiply_linear_by_lr")};
  SLUICE_UPDATE_LOOP { FtrlStep(s, grad[i], var[i], accum[i], linear[i]); }
}

template <typename T>
SLUICE_TARGET_CLONES void Ftrl(const UpdateCall<kFtrl, T>& c, int64_t begin, int64_t end) {
  FtrlLoop(c, T(0), begin, end);
}
UPDATE_KERNELS(Ftrl, 3, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void FtrlV2(const UpdateCall<kFtrlV2, T>& c, int64_t begin, int64_t end) {
  FtrlLoop(c, c.scalar("l2_shrinkage"), begin, end);
}
UPDATE_KERNELS(FtrlV2, 3, FloatList);

}  // namespace
}  // namespace sluice
