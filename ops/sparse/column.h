// Features of one input of a cross, row by row, and the walk over all combinations of a row.
//
// Thread safety: immutable once made. A column reads the tensors that it was made of, which must
// outlive it.
#ifndef SLUICE_OPS_SPARSE_COLUMN_H_
#define SLUICE_OPS_SPARSE_COLUMN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice::cross {

class Column {
 public:
  // Row i has the values from starts[i] to starts[i + 1].
  Column(const Tensor& values, std::vector<int64_t> starts)
      : values_(&values), starts_(std::move(starts)) {}
  // A matrix: a row has all of its columns.
  static Column Dense(const Tensor& values);

  int64_t First(int64_t row) const { return starts_[static_cast<size_t>(row)]; }
  int64_t Count(int64_t row) const { return starts_[static_cast<size_t>(row) + 1] - First(row); }
  bool is_string() const { return values_->dtype() == DT_STRING; }
  // Value i: as it is joined to a string, and what stands for it in a hash.
  std::string Text(int64_t i) const;
  uint64_t Hash(int64_t i) const;
  const std::string& String(int64_t i) const { return values_->data<std::string>()[i]; }
  int64_t Number(int64_t i) const { return values_->data<int64_t>()[i]; }

 private:
  const Tensor* values_;
  std::vector<int64_t> starts_;
};
using Columns = std::vector<Column>;

// Where the crosses of each row start among all; the last element is their number.
// INVALID_ARGUMENT where there are more than an index holds.
absl::StatusOr<std::vector<int64_t>> CrossStarts(const Columns& columns, int64_t rows);

// Calls `write` with the place of each cross and its values, one a column, the last column's
// going fastest; rows on several threads.
void ForEachCross(KernelContext& c, const Columns& columns, const std::vector<int64_t>& starts,
                  absl::FunctionRef<void(int64_t, int64_t, const std::vector<int64_t>&)> write);

// The fingerprint of two fingerprints. Reference: TensorFlow's FingerprintCat64, by Murmur's
// mixing.
uint64_t JoinHashes(uint64_t a, uint64_t b);
// In [0, buckets); without buckets in [0, the highest int64).
int64_t BucketOf(uint64_t hash, int64_t buckets);

std::string JoinText(const Columns& columns, const std::vector<int64_t>& at,
                     const std::string& separator);
uint64_t JoinHash(const Columns& columns, const std::vector<int64_t>& at, uint64_t key);

}  // namespace sluice::cross

#endif  // SLUICE_OPS_SPARSE_COLUMN_H_
