#include "ops/loops/cast_loops.h"

#include <bit>
#include <complex>
#include <type_traits>

#include "ops/loops/elements.h"

namespace sluice {
namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Converts `x`, whose type is arithmetic or complex.
template <typename To, typename From>
inline To ConvertOne(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    return ConvertOne<To>(x.real());
  } else if constexpr (kIsComplex<From>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (kIsFloat16<To> && !std::is_same_v<From, float>) {
    return To(static_cast<float>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void Convert(const void* x_raw, void* y_raw, int64_t n) {
  const From* x = static_cast<const From*>(x_raw);
  To* y = static_cast<To*>(y_raw);
  for (int64_t i = 0; i < n; ++i) y[i] = ConvertOne<To>(static_cast<Wide<From>>(x[i]));
}

// Returns the number of bits of the significand after the leading one.
template <typename T>
constexpr int SignificandBits() {
  if constexpr (std::is_same_v<T, half>) return 10;
  if constexpr (std::is_same_v<T, bfloat16>) return 7;
  return std::is_same_v<T, float> ? 23 : 52;
}

template <typename From, typename To>
void Truncate(const void* x_raw, void* y_raw, int64_t n) {
  using Bits = std::conditional_t<sizeof(From) == 8, uint64_t, uint32_t>;
  constexpr Bits kept = ~Bits{0} << (SignificandBits<From>() - SignificandBits<To>());
  const From* x = static_cast<const From*>(x_raw);
  To* y = static_cast<To*>(y_raw);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = ConvertOne<To>(std::bit_cast<From>(std::bit_cast<Bits>(x[i]) & kept));
  }
}

using CastList = JoinTypes<NumberList, TypeList<bool>>::type;

CastLoop TruncatingLoop(DataType from, DataType to) {
  if (from == DT_FLOAT && to == DT_HALF) return Truncate<float, half>;
  if (from == DT_FLOAT && to == DT_BFLOAT16) return Truncate<float, bfloat16>;
  if (from == DT_DOUBLE && to == DT_HALF) return Truncate<double, half>;
  if (from == DT_DOUBLE && to == DT_BFLOAT16) return Truncate<double, bfloat16>;
  if (from == DT_DOUBLE && to == DT_FLOAT) return Truncate<double, float>;
  return nullptr;
}

}  // namespace

CastLoop FindCastLoop(DataType from, DataType to, bool truncate) {
  if (truncate) {
    if (CastLoop loop = TruncatingLoop(from, to)) return loop;
  }
  CastLoop loop = nullptr;
  WithType(from, CastList(), [&]<typename From>(ElementTag<From>) {
    WithType(to, CastList(), [&]<typename To>(ElementTag<To>) { loop = Convert<From, To>; });
  });
  return loop;
}

}  // namespace sluice
