// Addition, subtraction, multiplication and negation that wrap around for integers, as TensorFlow's
// kernels do. For signed integers, the overflow of C++'s own operators is undefined behaviour. For
// types other than integers, the functions use these operators.
#ifndef SLUICE_OPS_LOOPS_WRAPPING_H_
#define SLUICE_OPS_LOOPS_WRAPPING_H_

#include <type_traits>

#include "executor/cpu/target_clones.h"

namespace sluice {

template <typename T>
using UnsignedOf = std::make_unsigned_t<decltype(T() + 0)>;

template <typename T>
SLUICE_INLINE_IN_CLONES T WrappingAdd(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<UnsignedOf<T>>(a) + static_cast<UnsignedOf<T>>(b));
  } else {
    return a + b;
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T WrappingSubtract(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<UnsignedOf<T>>(a) - static_cast<UnsignedOf<T>>(b));
  } else {
    return a - b;
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T WrappingMultiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<UnsignedOf<T>>(a) * static_cast<UnsignedOf<T>>(b));
  } else {
    return a * b;
  }
}

template <typename T>
SLUICE_INLINE_IN_CLONES T WrappingNegate(T a) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(UnsignedOf<T>{0} - static_cast<UnsignedOf<T>>(a));
  } else {
    return -a;
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_WRAPPING_H_
