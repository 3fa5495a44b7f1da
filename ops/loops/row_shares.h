// Divides updates of rows of a table among threads.
//
// A row may be updated several times, and the updates of an element must run in order. So wide rows
// are split by columns. Narrow rows are divided into shares, and one thread does all updates of a
// share. Results do not depend on the number of threads.
#ifndef SLUICE_OPS_LOOPS_ROW_SHARES_H_
#define SLUICE_OPS_LOOPS_ROW_SHARES_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"
#include "executor/cpu/loop_costs.h"
#include "executor/kernel/context.h"

namespace sluice {

// A list of updates, each of one row.
struct RowWork {
  int64_t count;         // number of updates
  int64_t row_size;      // in elements
  int64_t element_size;  // in bytes
  double cost;           // in nanoseconds per element
  // Whether a row may be split by columns.
  bool may_split_rows = true;

  static constexpr int64_t kWide = 512;  // elements
  static constexpr int kMostShares = 8;  // because each share looks at all updates
  static constexpr int64_t kChunk = 256;

  double total_cost() const {
    return (3 + cost * static_cast<double>(row_size)) * static_cast<double>(count);
  }
  // The number of the share that the row belongs to. `start` is the position of the row's first
  // element in the table. Rows that start on one cache line belong to one share.
  int ShareOf(int64_t start, int shares) const {
    const auto line = static_cast<uint64_t>(start * element_size) / 64;
    const uint64_t mixed = line * 0x9E3779B97F4A7C15u >> 32;
    return static_cast<int>(mixed * static_cast<uint64_t>(shares) >> 32);
  }
};

// Calls f(positions, begin, end) on several threads. The updates are numbered from 0 to count - 1.
// Each call runs the updates with the numbers `positions`, for columns [begin, end) of their rows.
// Calls for the same element get ascending positions. start_of(position) is the position of the
// updated row's first element in the table. Updates for which it is negative are skipped.
template <typename StartOf, typename F>
void ForRowShares(KernelContext& context, const RowWork& work, const StartOf& start_of,
                  const F& f) {
  const bool is_wide = work.may_split_rows && work.row_size >= RowWork::kWide;
  const bool is_alone = is_wide || work.total_cost() < 2 * kWorthSharingNs;
  const int shares = is_alone ? 1 : std::min(context.num_threads(), RowWork::kMostShares);
  const auto columns_of_share = [&](int share, int64_t begin, int64_t end) {
    int64_t positions[RowWork::kChunk];
    for (int64_t first = 0; first < work.count; first += RowWork::kChunk) {
      const int64_t last = std::min(first + RowWork::kChunk, work.count);
      size_t n = 0;
      for (int64_t p = first; p < last; ++p) {
        const int64_t start = start_of(p);
        positions[n] = p;
        n += start >= 0 && (shares == 1 || work.ShareOf(start, shares) == share) ? 1 : 0;
      }
      f(absl::Span<const int64_t>(positions, n), begin, end);
    }
  };
  if (is_wide) {
    context.ParallelFor(work.row_size, work.cost * static_cast<double>(work.count),
                        [&](int64_t begin, int64_t end) { columns_of_share(0, begin, end); });
    return;
  }
  context.ParallelFor(shares, work.total_cost() / shares, [&](int64_t begin, int64_t end) {
    for (int64_t share = begin; share < end; ++share) {
      columns_of_share(static_cast<int>(share), 0, work.row_size);
    }
  });
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ROW_SHARES_H_
