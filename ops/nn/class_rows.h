// Loops over one row of logits, for softmax and the cross entropies. They compute the maximum, the
// exponentials and their sum. Rows of 16-bit types are first converted to float.
//
// Loops keep 16 partial results, so that they vectorise. Results have the same bits on all levels
// of x86-64, except for fused multiply-adds and for the rounding of subnormal exponentials.
#ifndef SLUICE_OPS_NN_CLASS_ROWS_H_
#define SLUICE_OPS_NN_CLASS_ROWS_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "executor/cpu/avx512.h"
#include "executor/cpu/target_clones.h"
#include "graph/tensor/float16.h"
#include "ops/loops/exponential_avx512.h"
#include "ops/loops/inline_exp.h"
#include "ops/loops/vector_math.h"

namespace sluice::class_rows {

// The type in which rows of T are computed.
template <typename T>
using Wide = std::conditional_t<kIsFloat16<T>, float, T>;

inline constexpr int kLanes = 16;

template <int kCount, typename F>
SLUICE_INLINE_IN_CLONES F MaxByLanes(const F* x, int64_t n) {
  F lanes[kCount];
  for (F& lane : lanes) lane = -std::numeric_limits<F>::infinity();
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) {
    for (int j = 0; j < kCount; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] = x[i] > lanes[j] ? x[i] : lanes[j];
  F max = lanes[0];
  for (int j = 1; j < kCount; ++j) max = lanes[j] > max ? lanes[j] : max;
  return max;
}

// The maximum of the row. It ignores NaNs, because the exponentials will propagate them. Long rows
// are divided among more lanes, which hides the latency of the comparisons.
template <typename F>
SLUICE_TARGET_CLONES F Max(const F* x, int64_t n) {
  return n < 16 * kLanes ? MaxByLanes<kLanes>(x, n) : MaxByLanes<4 * kLanes>(x, n);
}

template <typename F>
SLUICE_TARGET_CLONES F Sum(const F* x, int64_t n) {
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

template <typename F>
SLUICE_TARGET_CLONES F Dot(const F* x, const F* y, int64_t n) {
  F lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += x[i + j] * y[i + j];
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] += x[i] * y[i];
  F sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

template <typename F>
SLUICE_TARGET_CLONES void ExpLoop(const F* x, F max, F* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = BoundedExp(x[i] - max);
}

// y = exp(x - max). Returns the sum of y. y may be x.
template <typename F>
F ExpSum(const F* x, F max, F* y, int64_t n) {
  if constexpr (std::is_same_v<F, float>) {
    if (HasAvx512()) return ExpSumAvx512(x, max, y, n);
  }
  ExpLoop(x, max, y, n);
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

// Sum of labels * (offset - (x - shift)). A label of 0 contributes nothing, even if x is infinite
// or NaN.
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

// Returns the row in type Wide<T>: the row itself, or a converted copy in `buffer`.
template <typename T>
const Wide<T>* Widen(const T* row, int64_t n, std::vector<Wide<T>>* buffer) {
  if constexpr (kIsFloat16<T>) {
    buffer->assign(row, row + n);
    return buffer->data();
  } else {
    return row;
  }
}

// Returns the memory in which a row of results is computed in float: the output row itself or, if
// the output has a 16-bit type, `buffer`, which Narrow then converts into the output row.
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
