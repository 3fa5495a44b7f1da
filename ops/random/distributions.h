// Converts Philox's bits to random numbers: uniform numbers and integers, normal and truncated
// normal numbers.
//
// A distribution is a functor. Each call of it gets a Philox generator and writes kCount results,
// which form a group. Group g of an output begins with the state that the generator has after g *
// kCallsPerGroup calls. So groups can be computed in any order. The bits that each result consumes
// and the order of floating point operations are TensorFlow's.
#ifndef SLUICE_OPS_RANDOM_DISTRIBUTIONS_H_
#define SLUICE_OPS_RANDOM_DISTRIBUTIONS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "graph/tensor/float16.h"
#include "ops/random/philox.h"

namespace sluice::random {

// ToFloat, ToDouble, ToHalf and ToBfloat16 convert random bits to a number in [0, 1). The bits fill
// the mantissa of a number in [1, 2), from which 1 is subtracted.
inline float ToFloat(uint32_t x) {
  return std::bit_cast<float>((x & 0x7fffffu) | 0x3f800000u) - 1.0f;
}
inline double ToDouble(uint32_t x0, uint32_t x1) {
  const uint64_t mantissa = uint64_t{x0 & 0xfffffu} << 32 | x1;
  return std::bit_cast<double>(mantissa | uint64_t{1023} << 52) - 1.0;
}
inline half ToHalf(uint32_t x) {
  const half h = half::FromBits(static_cast<uint16_t>((x & 0x3ffu) | 15u << 10));
  return half(static_cast<float>(h) - 1.0f);
}
inline bfloat16 ToBfloat16(uint32_t x) {
  const bfloat16 h = bfloat16::FromBits(static_cast<uint16_t>((x & 0x7fu) | 127u << 7));
  return bfloat16(static_cast<float>(h) - 1.0f);
}

// BoxMuller computes a pair of normal numbers from a pair of uniform ones. The first uniform number
// is at least 1e-7, because the logarithm of 0 is not finite.
template <typename F>
struct NormalPair {
  F first, second;
};
inline NormalPair<float> BoxMuller(uint32_t x0, uint32_t x1) {
  const float u = std::max(ToFloat(x0), 1.0e-7f);
  const float angle = static_cast<float>(2.0f * std::numbers::pi * ToFloat(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline NormalPair<double> BoxMuller(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double u = std::max(ToDouble(x0, x1), 1.0e-7);
  const double angle = 2 * std::numbers::pi * ToDouble(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

template <typename T>
inline constexpr int kResultsPerCall = sizeof(T) == 8 ? Philox::kResults / 2 : Philox::kResults;

// Uniform in [0, 1).
template <typename T>
struct Uniform {
  static constexpr int kCount = kResultsPerCall<T>;
  static constexpr int kCallsPerGroup = 1;
  static constexpr double kCost = 2;  // nanoseconds per result
  void operator()(Philox& generator, T* out) const {
    const Philox::Results r = generator();
    if constexpr (std::is_same_v<T, double>) {
      for (int i = 0; i < kCount; ++i) out[i] = ToDouble(r[2 * i], r[2 * i + 1]);
    } else {
      for (int i = 0; i < kCount; ++i) {
        if constexpr (std::is_same_v<T, float>) out[i] = ToFloat(r[i]);
        if constexpr (std::is_same_v<T, half>) out[i] = ToHalf(r[i]);
        if constexpr (std::is_same_v<T, bfloat16>) out[i] = ToBfloat16(r[i]);
      }
    }
  }
};

// Integers all of whose bits are random.
template <typename T>
struct UniformBits {
  static constexpr int kCount = kResultsPerCall<T>;
  static constexpr int kCallsPerGroup = 1;
  static constexpr double kCost = 2;
  void operator()(Philox& generator, T* out) const {
    const Philox::Results r = generator();
    for (int i = 0; i < kCount; ++i) {
      if constexpr (sizeof(T) == 8) {
        out[i] = static_cast<T>(Philox::Join(r[2 * i], r[2 * i + 1]));
      } else {
        out[i] = static_cast<T>(r[i]);
      }
    }
  }
};

// Uniform integers in [low, high), where low < high. As in TensorFlow, small integers are slightly
// more frequent if the size of the range is not a power of two.
template <typename T>
struct UniformRange {
  using U = std::make_unsigned_t<T>;
  static constexpr int kCount = kResultsPerCall<T>;
  static constexpr int kCallsPerGroup = 1;
  static constexpr double kCost = 4;
  T low;
  U range;
  UniformRange(T low_, T high) : low(low_), range(static_cast<U>(high) - static_cast<U>(low_)) {}
  void operator()(Philox& generator, T* out) const {
    U bits[kCount];
    UniformBits<U>()(generator, bits);
    for (int i = 0; i < kCount; ++i) {
      out[i] = static_cast<T>(static_cast<U>(low) + bits[i] % range);
    }
  }
};

// Normal numbers with mean 0 and standard deviation 1.
template <typename T>
struct Normal {
  static constexpr int kCount = kResultsPerCall<T>;
  static constexpr int kCallsPerGroup = 1;
  static constexpr double kCost = 15;
  void operator()(Philox& generator, T* out) const {
    const Philox::Results r = generator();
    if constexpr (std::is_same_v<T, double>) {
      const NormalPair<double> pair = BoxMuller(r[0], r[1], r[2], r[3]);
      out[0] = pair.first;
      out[1] = pair.second;
    } else {
      for (int i = 0; i < kCount; i += 2) {
        const NormalPair<float> pair = BoxMuller(r[i], r[i + 1]);
        out[i] = T(pair.first);
        out[i + 1] = T(pair.second);
      }
    }
  }
};

// Normal numbers whose magnitude is below 2. Larger ones are drawn again.
template <typename T>
struct TruncatedNormal {
  static constexpr int kCount = kResultsPerCall<T>;
  // Enough calls to draw every result of the group many times.
  static constexpr int kCallsPerGroup =
      kCount * ReservedGenerator::kCallsPerOutput / Philox::kResults;
  static constexpr double kCost = 25;
  void operator()(Philox& generator, T* out) const {
    SingleNumbers next(&generator);
    for (int filled = 0; filled < kCount;) {
      const auto pair = Pair(next);
      if (std::abs(pair.first) < 2) out[filled++] = T(pair.first);
      if (filled < kCount && std::abs(pair.second) < 2) out[filled++] = T(pair.second);
    }
  }

 private:
  static auto Pair(SingleNumbers& next) {
    const uint32_t x0 = next(), x1 = next();
    if constexpr (std::is_same_v<T, double>) {
      const uint32_t x2 = next(), x3 = next();
      return BoxMuller(x0, x1, x2, x3);
    } else {
      return BoxMuller(x0, x1);
    }
  }
};

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_DISTRIBUTIONS_H_
