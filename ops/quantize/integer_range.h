// Converts numbers in a range [min, max] to integers of type T and back. The smallest T stands for
// min, the largest for max. This is how the eight-bit ops represent numbers (mode MIN_FIRST).
//
// The conversions round as TensorFlow's do. There are two forms: Quantized and Number convert
// single numbers in double. ToInteger and ToNumber convert many numbers in float.
//
// Thread safety: pure functions and values. NaN and infinite ranges give some integer.
// Reference: TensorFlow's core/kernels/quantization_utils.h.
#ifndef SLUICE_OPS_QUANTIZE_INTEGER_RANGE_H_
#define SLUICE_OPS_QUANTIZE_INTEGER_RANGE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

struct NumberRange {
  float min, max;
};

template <typename T>
inline constexpr int64_t kLowestInteger = std::numeric_limits<T>::lowest();
template <typename T>
inline constexpr int64_t kHighestInteger = std::numeric_limits<T>::max();
// The number of steps from the lowest to the highest integer.
template <typename T>
inline constexpr double kSteps = static_cast<double>(kHighestInteger<T> - kLowestInteger<T>);

// Converts `x` to int64. If it does not fit, returns the smallest int64, as x86 does. (A cast would
// then be undefined.)
inline int64_t ToInt64(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}

// The integer that stands for `x`. It may be outside T.
template <typename T>
int64_t QuantizedUnclamped(float x, NumberRange r) {
  if (r.min == r.max) return kLowestInteger<T>;
  const double steps = kSteps<T> + 1;
  const double range = static_cast<double>(r.max - r.min) * (steps / kSteps<T>);
  const double scale = steps / range;
  const int64_t q = ToInt64(std::round(x * scale) - std::round(r.min * scale));
  return static_cast<int64_t>(static_cast<uint64_t>(q) + static_cast<uint64_t>(kLowestInteger<T>));
}

template <typename T>
T Quantized(float x, NumberRange r) {
  return static_cast<T>(
      std::clamp(QuantizedUnclamped<T>(x, r), kLowestInteger<T>, kHighestInteger<T>));
}

// The number that `q` stands for.
template <typename T>
float Number(T q, NumberRange r) {
  if (r.min == r.max) return r.min;
  const double steps = kSteps<T> + 1;
  const double scale = static_cast<double>(r.max - r.min) * (steps / kSteps<T>) / steps;
  const auto single = static_cast<float>(scale);
  const double first = std::round(r.min / single) * single;
  const double offset = static_cast<double>(q) - static_cast<double>(kLowestInteger<T>);
  return static_cast<float>(first + offset * scale);
}

// Converts integers as Number() does, but computes in float.
template <typename T>
class ToNumber {
 public:
  explicit ToNumber(NumberRange r)
      : scale_(static_cast<float>((r.max - r.min) / kSteps<T>)),
        first_((r.max == r.min ? r.min : std::round(r.min / scale_) * scale_) -
               static_cast<float>(kLowestInteger<T>) * scale_) {}
  float operator()(T q) const { return first_ + static_cast<float>(q) * scale_; }

 private:
  const float scale_, first_;
};

// Converts numbers as Quantized() does, but computes in float.
template <typename T>
class ToInteger {
 public:
  explicit ToInteger(NumberRange r)
      : scale_(r.max == r.min ? 0.0f : static_cast<float>(kSteps<T> / (r.max - r.min))),
        first_(std::round(r.min * scale_) - static_cast<float>(kLowestInteger<T>)) {}
  T operator()(float x) const {
    const float q = std::round(x * scale_) - first_;
    // NaN gives the lowest integer.
    return static_cast<T>(q > kLeast ? std::min(q, kMost) : kLeast);
  }

 private:
  static constexpr float kLeast = static_cast<float>(kLowestInteger<T>);
  // The largest float below 2^31, because the largest int32 is not a float.
  static constexpr float kMost =
      sizeof(T) == 4 ? 2147483520.0f : static_cast<float>(kHighestInteger<T>);
  const float scale_, first_;
};

// The range that integers of type C stand for, if they are sums of products of two integers: one of
// type A that stands for a number in range `a`, and one of type B for a number in range `b`.
template <typename A, typename B, typename C>
NumberRange RangeOfProduct(NumberRange a, NumberRange b) {
  const auto level = [](NumberRange r, int64_t steps) {
    return (r.max - r.min) / static_cast<float>(steps);
  };
  const float step = level(a, kHighestInteger<A> - kLowestInteger<A>) *
                     level(b, kHighestInteger<B> - kLowestInteger<B>);
  return {step * static_cast<float>(kLowestInteger<C>),
          step * static_cast<float>(kHighestInteger<C>)};
}

// The range in inputs `first` and `first` + 1, which must have one element each. The op must not
// have lists of inputs, because errors name an input by its position.
inline absl::StatusOr<NumberRange> RangeInput(const KernelContext& c, int first) {
  for (int i : {first, first + 1}) {
    if (c.input(i).num_elements() == 1) continue;
    return InvalidArgument(c.node().op(), " node '", c.name(), "': `",
                           c.node().def().inputs[static_cast<size_t>(i)].name,
                           "` must be rank 0 but is rank ", c.input(i).rank(), ", got shape ",
                           c.input(i).shape().ToString());
  }
  return NumberRange{*c.input(first).data<float>(), *c.input(first + 1).data<float>()};
}

// Sets the scalar outputs `first` and `first` + 1 to the range.
inline absl::Status SetRange(KernelContext& c, NumberRange r, int first = 1) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * min, c.AllocateOutput(first, {}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * max, c.AllocateOutput(first + 1, {}));
  *min->data<float>() = r.min;
  *max->data<float>() = r.max;
  return absl::OkStatus();
}

// The elements of a tensor of a quantized type that is stored as T.
template <typename T>
const T* IntegersOf(const Tensor& t) {
  return static_cast<const T*>(t.raw());
}
template <typename T>
T* IntegersOf(Tensor* t) {
  return static_cast<T*>(t->raw());
}

}  // namespace sluice

#endif  // SLUICE_OPS_QUANTIZE_INTEGER_RANGE_H_
