#include "ops/sparse/column.h"

#include <limits>

#include "graph/status.h"
#include "ops/strings/hash.h"

namespace sluice::cross {
namespace {

constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;  // from MurmurHash

uint64_t Mix(uint64_t v) { return v ^ (v >> 47); }

}  // namespace

Column Column::Dense(const Tensor& values) {
  std::vector<int64_t> starts(static_cast<size_t>(values.dim(0)) + 1);
  for (size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<int64_t>(i) * values.dim(1);
  return Column(values, std::move(starts));
}

std::string Column::Text(int64_t i) const {
  return is_string() ? String(i) : std::to_string(Number(i));
}

uint64_t Column::Hash(int64_t i) const {
  return is_string() ? Fingerprint64(String(i)) : static_cast<uint64_t>(Number(i));
}

absl::StatusOr<std::vector<int64_t>> CrossStarts(const Columns& columns, int64_t rows) {
  std::vector<int64_t> starts(static_cast<size_t>(rows) + 1);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t count = 1, end = 0;
    bool overflows = false;
    for (const Column& column : columns) {
      if (column.Count(row) == 0) {
        count = 0;
        overflows = false;
        break;
      }
      overflows = __builtin_mul_overflow(count, column.Count(row), &count) || overflows;
    }
    SLUICE_INVALID_IF(
        overflows || __builtin_add_overflow(starts[static_cast<size_t>(row)], count, &end),
        "expected fewer than 2^63 crosses, got more up to row ", row);
    starts[static_cast<size_t>(row) + 1] = end;
  }
  return starts;
}

void ForEachCross(KernelContext& c, const Columns& columns, const std::vector<int64_t>& starts,
                  absl::FunctionRef<void(int64_t, int64_t, const std::vector<int64_t>&)> write) {
  const auto rows = static_cast<int64_t>(starts.size()) - 1;
  const double cost = 200.0 * static_cast<double>(columns.size()) *
                      static_cast<double>(starts.back()) / static_cast<double>(rows + 1);
  c.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> at(columns.size());
    for (int64_t row = begin; row < end; ++row) {
      for (size_t k = 0; k < at.size(); ++k) at[k] = columns[k].First(row);
      for (int64_t i = starts[static_cast<size_t>(row)]; i < starts[static_cast<size_t>(row) + 1];
           ++i) {
        write(i, row, at);
        for (size_t k = at.size(); k-- > 0;) {
          if (++at[k] < columns[k].First(row) + columns[k].Count(row)) break;
          at[k] = columns[k].First(row);
        }
      }
    }
  });
}

uint64_t JoinHashes(uint64_t a, uint64_t b) {
  uint64_t joined = a ^ kMultiplier;
  joined ^= Mix(b * kMultiplier) * kMultiplier;
  joined *= kMultiplier;
  return Mix(Mix(joined) * kMultiplier);
}

int64_t BucketOf(uint64_t hash, int64_t buckets) {
  const int64_t size = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(hash % static_cast<uint64_t>(size));
}

std::string JoinText(const Columns& columns, const std::vector<int64_t>& at,
                     const std::string& separator) {
  std::string joined;
  for (size_t k = 0; k < columns.size(); ++k) {
    StrAppend(&joined, k == 0 ? "" : separator, columns[k].Text(at[k]));
  }
  return joined;
}

uint64_t JoinHash(const Columns& columns, const std::vector<int64_t>& at, uint64_t key) {
  for (size_t k = 0; k < columns.size(); ++k) key = JoinHashes(key, columns[k].Hash(at[k]));
  return key;
}

}  // namespace sluice::cross
