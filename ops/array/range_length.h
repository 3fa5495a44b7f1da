// Computes the number of elements of a range, for the shape function and the kernel of op Range.
#ifndef SLUICE_OPS_ARRAY_RANGE_LENGTH_H_
#define SLUICE_OPS_ARRAY_RANGE_LENGTH_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "graph/status.h"
#include "graph/tensor/dtype.h"

namespace sluice {

using RangeList = TypeList<half, bfloat16, float, double, int32_t, int64_t>;

// Returns the number of elements of the range start, start + delta, …, which ends before `limit`.
// -1 if the number exceeds int64. INVALID_ARGUMENT if `delta` is 0 or leads away from `limit`.
template <typename T>
absl::StatusOr<int64_t> RangeLength(T start, T limit, T delta) {
  SLUICE_INVALID_IF(delta == T(0), "Requires delta != 0: ", static_cast<double>(delta));
  SLUICE_INVALID_IF(delta > T(0) ? start > limit : limit > start, "Requires start ",
                    delta > T(0) ? "<=" : ">=", " limit when delta ", delta > T(0) ? ">" : "<",
                    " 0: ", static_cast<double>(start), "/", static_cast<double>(limit));
  if constexpr (std::is_integral_v<T>) {
    const __int128 span = static_cast<__int128>(limit) - start;
    const __int128 step = delta;
    const __int128 length = (span + step + (step > 0 ? -1 : 1)) / step;
    return length <= std::numeric_limits<int64_t>::max() ? static_cast<int64_t>(length) : -1;
  } else {
    const double length = std::ceil(std::abs(
        (static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
    return length < 9e18 ? static_cast<int64_t>(length) : -1;
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_ARRAY_RANGE_LENGTH_H_
