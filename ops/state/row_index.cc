#include "ops/state/row_index.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "executor/kernel/target_clones.h"

namespace sluice {
namespace {

// Without branches, so that it is made of vectors.
template <typename Row>
SLUICE_TARGET_CLONES bool AreInside(const Row* rows, int64_t n, std::make_unsigned_t<Row> limit) {
  std::make_unsigned_t<Row> greatest = 0;
  for (int64_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, static_cast<std::make_unsigned_t<Row>>(rows[i]));
  }
  return n == 0 || greatest < limit;
}

template <typename Row>
int64_t FirstOutside(const Row* rows, int64_t n, int64_t limit) {
  using Unsigned = std::make_unsigned_t<Row>;
  // Seen without a sign, negative rows are the greatest.
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<Row>::max());
  const auto bound = static_cast<Unsigned>(std::min(static_cast<uint64_t>(limit), kMost + 1));
  if (AreInside(rows, n, bound)) return -1;
  return std::find_if(rows, rows + n,
                      [&](Row row) { return static_cast<Unsigned>(row) >= bound; }) -
         rows;
}

}  // namespace

int64_t RowIndex::FirstOutside(int64_t limit) const {
  return is_int64_ ? sluice::FirstOutside(static_cast<const int64_t*>(data_), size_, limit)
                   : sluice::FirstOutside(static_cast<const int32_t*>(data_), size_, limit);
}

}  // namespace sluice
