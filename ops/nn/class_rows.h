// One row of logits at a time: maximum, exponentials and their sum, as softmax and the cross
// entropies need them. Rows of 16-bit types are widened to float first.
//
// Loops keep 16 partial results, so that they vectorise and give the same bits on every level of
// x86-64 up to the fused operations of each.
#ifndef SLUICE_OPS_NN_CLASS_ROWS_H_
#define SLUICE_OPS_NN_CLASS_ROWS_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "executor/kernel/target_clones.h"
#include "graph/tensor/float16.h"
#include "ops/math/vector_math.h"

namespace sluice::class_rows {

// What rows of T are computed in.
template <typename T>
using Wide = std::conditional_t<kIsFloat16<T>, float, T>;

inline constexpr int kLanes = 16;

// NaNs are passed over: they come out of the exponentials.
template <typename F>
SLUICE_TARGET_CLONES F Max(const F* x, int64_t n) {
  F lanes[kLanes];
  for (F& lane : lanes) lane = -std::numeric_limits<F>::infinity();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] = x[i] > lanes[j] ? x[i] : lanes[j];
  F max = lanes[0];
  for (int j = 1; j < kLanes; ++j) max = lanes[j] > max ? lanes[j] : max;
  return max;
}

template <typename F>
SLUICE_INLINE_IN_CLONES F Sum(const F* x, int64_t n) {
  F lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += x[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] += x[i];
  F sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// exp(x) for x <= 0 and NaN, to 1.5 ulp: a power of two times the polynomial of Cephes' expf. The
// vector library's takes twice as long, for it is called, and looks for large arguments.
SLUICE_INLINE_IN_CLONES float ExpBelowZero(float x) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: what is added to it is rounded to a whole
  constexpr float kLeast = -104;      // of it, the exponential is 0
  const float bounded = x < kLeast ? kLeast : x;
  const float shifted = bounded * 1.44269504f + kRound;
  const float whole = shifted - kRound;
  const float r = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1;
  // In two factors, since the power itself may be too small for a float.
  const int32_t power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const int32_t half = power >> 1;
  const auto power_of_two = [](int32_t n) {
    return std::bit_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(n + 127) << 23));
  };
  return p * power_of_two(half) * power_of_two(power - half);
}
SLUICE_INLINE_IN_CLONES double ExpBelowZero(double x) { return std::exp(x); }

// y = exp(x - max); the sum of y. y may be x.
template <typename F>
SLUICE_TARGET_CLONES F ExpSum(const F* x, F max, F* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = ExpBelowZero(x[i] - max);
  return Sum(y, n);
}

template <typename F>
SLUICE_TARGET_CLONES void Scale(F* x, F factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// y = x - shift - offset, in this order.
template <typename F>
SLUICE_TARGET_CLONES void Subtract(const F* x, F shift, F offset, F* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - shift) - offset;
}

// Sum of labels * (offset - (x - shift)); a label of 0 counts for nothing, however bad x is.
template <typename F>
SLUICE_TARGET_CLONES F Expected(const F* labels, const F* x, F shift, F offset, int64_t n) {
  F lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const F term = labels[i + j] * (offset - (x[i + j] - shift));
      lanes[j] += labels[i + j] == F(0) ? F(0) : term;
    }
  }
  for (int j = 0; i < n; ++i, ++j) {
    if (labels[i] != F(0)) lanes[j] += labels[i] * (offset - (x[i] - shift));
  }
  F sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// y = y * factor - labels.
template <typename F>
SLUICE_TARGET_CLONES void ScaleMinus(F* y, F factor, const F* labels, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] * factor - labels[i];
}

// A row as numbers that can be computed with: the row itself, or a widened copy in `buffer`.
template <typename T>
const Wide<T>* Widen(const T* row, int64_t n, std::vector<Wide<T>>* buffer) {
  if constexpr (kIsFloat16<T>) {
    buffer->assign(row, row + n);
    return buffer->data();
  } else {
    return row;
  }
}

// Where a row of results is computed: the output itself, or `buffer` until Narrow.
template <typename T>
Wide<T>* Target(T* row, int64_t n, std::vector<Wide<T>>* buffer) {
  if constexpr (kIsFloat16<T>) {
    buffer->resize(static_cast<size_t>(n));
    return buffer->data();
  } else {
    return row;
  }
}
template <typename T>
void Narrow(const Wide<T>* from, int64_t n, T* row) {
  if constexpr (kIsFloat16<T>) {
    for (int64_t i = 0; i < n; ++i) row[i] = T(from[i]);
  }
}

}  // namespace sluice::class_rows

#endif  // SLUICE_OPS_NN_CLASS_ROWS_H_
