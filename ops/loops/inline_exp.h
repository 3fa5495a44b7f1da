// The exponential function, inlined into loops. The vector library's function would be a call.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_LOOPS_INLINE_EXP_H_
#define SLUICE_OPS_LOOPS_INLINE_EXP_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "executor/cpu/target_clones.h"

namespace sluice {

// exp(x) for x <= 104 and NaN, within 1.5 ulp: a power of two times the polynomial of Cephes' expf.
// The vector library's function takes twice as long, because it handles large arguments too.
SLUICE_INLINE_IN_CLONES float BoundedExp(float x) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLeast = -104;      // its exponential rounds to 0
  // Avoids products that underflow. They slow some processors down by a factor of 20.
  const float bounded = x < kLeast ? 0 : x;
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
  // Two factors, because the power of two itself may be too small for a float.
  const int32_t power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  const int32_t half = power >> 1;
  const auto power_of_two = [](int32_t n) {
    return std::bit_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(n + 127) << 23));
  };
  const float value = p * power_of_two(half) * power_of_two(power - half);
  return x < kLeast ? 0 : value;
}
SLUICE_INLINE_IN_CLONES double BoundedExp(double x) { return std::exp(x); }

// exp(x) for all x, within 1.5 ulp. Infinite for x >= 104.
SLUICE_INLINE_IN_CLONES float InlineExp(float x) {
  constexpr float kMost = 104;
  return BoundedExp(x > kMost ? kMost : x);
}
SLUICE_INLINE_IN_CLONES double InlineExp(double x) { return std::exp(x); }

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_INLINE_EXP_H_
