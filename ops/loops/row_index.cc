#include "ops/loops/row_index.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "executor/cpu/target_clones.h"

namespace sluice {
namespace {

// Returns whether no row exceeds `last`. Has no branches, so that the compiler vectorizes it.
template <typename Row>
SLUICE_TARGET_CLONES bool AreAtMost(std::make_unsigned_t<Row> last, const Row* rows, int64_t n) {
  std::make_unsigned_t<Row> greatest = 0;
  for (int64_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, static_cast<std::make_unsigned_t<Row>>(rows[i]));
  }
  return greatest <= last;
}

}  // namespace

template <typename Row>
int64_t FirstOutside(const Row* rows, int64_t n, int64_t limit) {
  using Unsigned = std::make_unsigned_t<Row>;
  if (limit == 0) return n > 0 ? 0 : -1;
  // As unsigned numbers, negative rows are greater than all others.
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<Row>::max());
  const auto last = static_cast<Unsigned>(std::min(static_cast<uint64_t>(limit) - 1, kMost));
  if (AreAtMost(last, rows, n)) return -1;
  const Row* const first =
      std::find_if(rows, rows + n, [&](Row row) { return static_cast<Unsigned>(row) > last; });
  return first - rows;
}

template int64_t FirstOutside(const int8_t*, int64_t, int64_t);
template int64_t FirstOutside(const uint8_t*, int64_t, int64_t);
template int64_t FirstOutside(const int16_t*, int64_t, int64_t);
template int64_t FirstOutside(const int32_t*, int64_t, int64_t);
template int64_t FirstOutside(const int64_t*, int64_t, int64_t);

}  // namespace sluice
