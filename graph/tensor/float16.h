// The two 16-bit floating-point types: IEEE binary16 (`half`), and the upper 16 bits of IEEE
// binary32 (`bfloat16`).
//
// Both are storage types: arithmetic is in float, and each result is rounded to nearest even, as in
// TensorFlow's CPU kernels. Thread safety: concurrent reads are safe. A write needs exclusive
// access.
#ifndef SLUICE_GRAPH_TENSOR_FLOAT16_H_
#define SLUICE_GRAPH_TENSOR_FLOAT16_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sluice {

namespace float16_internal {

inline uint16_t FloatToHalfBits(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (x >> 16) & 0x8000u;
  const uint32_t magnitude = x & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 rounds to a multiple of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude + 0xc8000fffu + odd) >> 13));
}

inline float HalfBitsToFloat(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  const uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0) {
    const float v = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(v) | sign);
  }
  const uint32_t e = exponent == 31 ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | (e << 23) | (mantissa << 13));
}

inline uint16_t FloatToBfloat16Bits(float f) {
  const uint32_t x = std::bit_cast<uint32_t>(f);
  if ((x & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>(((x >> 16) & 0x8000u) | 0x7fc0u);
  return static_cast<uint16_t>((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

}  // namespace float16_internal

struct half {
  uint16_t bits = 0;

  half() = default;
  template <typename T>
  requires std::is_arithmetic_v<T>
  explicit half(T v) : bits(float16_internal::FloatToHalfBits(static_cast<float>(v))) {}
  operator float() const { return float16_internal::HalfBitsToFloat(bits); }
  static half FromBits(uint16_t b) {
    half h;
    h.bits = b;
    return h;
  }
};

struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  template <typename T>
  requires std::is_arithmetic_v<T>
  explicit bfloat16(T v) : bits(float16_internal::FloatToBfloat16Bits(static_cast<float>(v))) {}
  explicit bfloat16(half v) : bfloat16(static_cast<float>(v)) {}
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static bfloat16 FromBits(uint16_t b) {
    bfloat16 h;
    h.bits = b;
    return h;
  }
};

template <typename T>
inline constexpr bool kIsFloat16 = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

// Operators on two numbers of one type. Each computes in float and rounds the result to that type.
// Without them, the result would be a float.
template <typename H>
requires kIsFloat16<H>
inline H operator+(H a, H b) { return H(static_cast<float>(a) + static_cast<float>(b)); }
template <typename H>
requires kIsFloat16<H>
inline H operator-(H a, H b) { return H(static_cast<float>(a) - static_cast<float>(b)); }
template <typename H>
requires kIsFloat16<H>
inline H operator*(H a, H b) { return H(static_cast<float>(a) * static_cast<float>(b)); }
template <typename H>
requires kIsFloat16<H>
inline H operator/(H a, H b) { return H(static_cast<float>(a) / static_cast<float>(b)); }
template <typename H>
requires kIsFloat16<H>
inline H operator-(H a) { return H::FromBits(a.bits ^ 0x8000u); }
template <typename H>
requires kIsFloat16<H>
inline H& operator+=(H& a, H b) { return a = a + b; }
template <typename H>
requires kIsFloat16<H>
inline H& operator-=(H& a, H b) { return a = a - b; }
template <typename H>
requires kIsFloat16<H>
inline H& operator*=(H& a, H b) { return a = a * b; }
template <typename H>
requires kIsFloat16<H>
inline H& operator/=(H& a, H b) { return a = a / b; }

// The base class of std::numeric_limits for both types. H is the type. The other template arguments
// are the bits of the limits.
template <typename H, uint16_t kLowest, uint16_t kMax, uint16_t kMin, uint16_t kEpsilon,
          uint16_t kInfinity, uint16_t kNaN>
struct Float16Limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_signed = true;
  static constexpr bool has_infinity = true;
  static H lowest() { return H::FromBits(kLowest); }
  static H max() { return H::FromBits(kMax); }
  static H min() { return H::FromBits(kMin); }
  static H epsilon() { return H::FromBits(kEpsilon); }
  static H infinity() { return H::FromBits(kInfinity); }
  static H quiet_NaN() { return H::FromBits(kNaN); }
};

}  // namespace sluice

template <>
class std::numeric_limits<sluice::half>
    : public sluice::Float16Limits<sluice::half, 0xfbff, 0x7bff, 0x0400, 0x1400, 0x7c00, 0x7e00> {};
template <>
class std::numeric_limits<sluice::bfloat16>
    : public sluice::Float16Limits<sluice::bfloat16, 0xff7f, 0x7f7f, 0x0080, 0x3c00, 0x7f80,
                                   0x7fc0> {};

#endif  // SLUICE_GRAPH_TENSOR_FLOAT16_H_
