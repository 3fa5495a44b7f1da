// The update loops of rules whose update of an element depends on the norm of its row.
#include "ops/loops/elements.h"
#include "ops/update/update_math.h"

namespace sluice {
namespace {

// Returns the norm of value(i) for i in [begin, end). Adds the squares in this order.
template <typename T, typename Value>
SLUICE_INLINE_IN_CLONES Wide<T> NormOf(int64_t begin, int64_t end, const Value& value) {
  Wide<T> sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    const auto x = static_cast<Wide<T>>(value(i));
    sum += x * x;
  }
  return std::sqrt(sum);
}

// Returns the part of `linear` outside [-bound, bound], with the opposite sign.
template <typename T>
SLUICE_INLINE_IN_CLONES T Beyond(T linear, T bound) {
  return Clamp(linear, -bound, bound) - linear;
}

// Returns the factor by which the group penalty `l21` shrinks a row of `size` elements: 0 if the
// norm is at most l21 * sqrt(size).
template <typename T>
SLUICE_INLINE_IN_CLONES T GroupFactor(Wide<T> norm, T l21, int64_t size) {
  const auto elements = static_cast<Wide<T>>(size);
  const Wide<T> bound = static_cast<Wide<T>>(l21) * std::sqrt(elements);
  return norm > bound ? static_cast<T>(1 - bound / norm) : T(0);
}

template <typename T>
SLUICE_TARGET_CLONES void GroupFtrl(const UpdateCall<kGroupFtrl, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* accum = c.slot("accum");
  T* linear = c.slot("linear");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T l1 = c.scalar("l1");
  const T l2 = c.scalar("l2");
  const T lr_power = c.scalar("lr_power");
  const bool is_root = lr_power == T(-0.5);
  const auto scale = [&](T n) { return is_root ? Sqrt(n) : Power(n, -lr_power); };
  for (int64_t i = begin; i < end; ++i) {
    const T n = accum[i] + grad[i] * grad[i];
    linear[i] = linear[i] + grad[i] - (scale(n) - scale(accum[i])) / lr * var[i];
    accum[i] = n;
  }
  const auto norm = NormOf<T>(begin, end, [&](int64_t i) { return Beyond(linear[i], l1); });
  const T factor = GroupFactor(norm, c.scalar("l21"), end - begin);
  for (int64_t i = begin; i < end; ++i) {
    var[i] = factor * Beyond(linear[i], l1) / (scale(accum[i]) / lr + T(2) * l2);
  }
}
UPDATE_KERNELS(GroupFtrl, 4, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void GroupAdam(const UpdateCall<kGroupAdam, T>& c, int64_t begin,
                                    int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  T* linear = c.slot("linear");
  const T* grad = c.grad();
  const T lr = c.scalar("lr");
  const T alpha = lr * Sqrt(T(1) - c.scalar("beta2_power")) / (T(1) - c.scalar("beta1_power"));
  const T beta1 = c.scalar("beta1");
  const T beta2 = c.scalar("beta2");
  const T epsilon = c.scalar("epsilon");
  const T l1 = lr * c.scalar("l1");
  const T l2 = lr * c.scalar("l2");
  for (int64_t i = begin; i < end; ++i) {
    // The first update includes the share of the initial value, which `linear` does not contain
    // yet.
    const T first = v[i] == T(0) && linear[i] == T(0) ? epsilon : T(0);
    const T before = Sqrt(v[i]);
    m[i] = beta1 * m[i] + (T(1) - beta1) * grad[i];
    v[i] = beta2 * v[i] + (T(1) - beta2) * grad[i] * grad[i];
    linear[i] = linear[i] + alpha * m[i] - (Sqrt(v[i]) - before + first) * var[i];
  }
  const auto norm = NormOf<T>(begin, end, [&](int64_t i) { return Beyond(linear[i], l1); });
  const T factor = GroupFactor(norm, lr * c.scalar("l21"), end - begin);
  for (int64_t i = begin; i < end; ++i) {
    var[i] = factor * Beyond(linear[i], l1) / (Sqrt(v[i]) + epsilon + T(2) * l2);
  }
}
UPDATE_KERNELS(GroupAdam, 4, FloatList);

template <typename T>
SLUICE_TARGET_CLONES void Lamb(const UpdateCall<kLamb, T>& c, int64_t begin, int64_t end) {
  T* var = c.var();
  T* m = c.slot("m");
  T* v = c.slot("v");
  const T* grad = c.grad();
  const T one_minus_beta1 = T(1) - c.scalar("beta1");
  const T one_minus_beta2 = T(1) - c.scalar("beta2");
  const T first_correction = T(1) - c.scalar("beta1_power");
  const T second_correction = T(1) - c.scalar("beta2_power");
  const T epsilon = c.scalar("epsilon");
  const T weight_decay = c.scalar("weight_decay");
  for (int64_t i = begin; i < end; ++i) {
    m[i] = m[i] + (grad[i] - m[i]) * one_minus_beta1;
    v[i] = v[i] + (grad[i] * grad[i] - v[i]) * one_minus_beta2;
  }
  const auto step = [&](int64_t i) {
    const T mean = m[i] / first_correction;
    return mean / (Sqrt(v[i] / second_correction) + epsilon) + weight_decay * var[i];
  };
  const auto size = NormOf<T>(begin, end, [&](int64_t i) { return var[i]; });
  const auto step_size = NormOf<T>(begin, end, step);
  const T ratio = size > 0 && step_size > 0 ? static_cast<T>(size / step_size) : T(1);
  const T rate = c.scalar("lr") * ratio;
  for (int64_t i = begin; i < end; ++i) var[i] = var[i] - rate * step(i);
}
UPDATE_KERNELS(Lamb, 4, FloatList);

}  // namespace
}  // namespace sluice
