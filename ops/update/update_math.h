// Arithmetic of the update loops, with the same functions for all element types. 16-bit types round
// after each operation, as in TensorFlow.
#ifndef SLUICE_OPS_UPDATE_UPDATE_MATH_H_
#define SLUICE_OPS_UPDATE_UPDATE_MATH_H_

#include <cmath>
#include <complex>

#include "executor/cpu/target_clones.h"
#include "graph/tensor/dtype.h"
#include "ops/update/update_kernel.h"

namespace sluice {

template <typename T>
SLUICE_INLINE_IN_CLONES T Sqrt(T x) {
  if constexpr (kIsFloat16<T>) {
    return T(std::sqrt(static_cast<float>(x)));
  } else {
    return std::sqrt(x);
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T ReciprocalSqrt(T x) {
  if constexpr (kIsFloat16<T>) {
    return T(1.0f / std::sqrt(static_cast<float>(x)));
  } else {
    return T(1) / std::sqrt(x);
  }
}

// This function and the following ones are for real types only.
template <typename T>
SLUICE_INLINE_IN_CLONES T Magnitude(T x) {
  return x < T(0) ? -x : x;
}

template <typename T>
SLUICE_INLINE_IN_CLONES T SignOf(T x) {
  return x > T(0) ? T(1) : (x < T(0) ? T(-1) : T(0));
}

template <typename T>
SLUICE_INLINE_IN_CLONES T Larger(T a, T b) {
  return a < b ? b : a;
}

template <typename T>
SLUICE_INLINE_IN_CLONES T Clamp(T x, T low, T high) {
  return x < low ? low : (high < x ? high : x);
}

template <typename T>
inline T Power(T x, T exponent) {
  if constexpr (kIsFloat16<T>) {
    return T(std::pow(static_cast<float>(x), static_cast<float>(exponent)));
  } else {
    return std::pow(x, exponent);
  }
}

using UpdateTypes = JoinTypes<FloatList, ComplexList>::type;

// The head of a loop that the compiler may vectorize, because iteration i uses only element i of
// each array. The arrays do not overlap, except that two of them are the same array if a node gets
// one variable as two inputs.
#define SLUICE_UPDATE_LOOP _Pragma("GCC ivdep") for (int64_t i = begin; i < end; ++i)

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_UPDATE_MATH_H_
