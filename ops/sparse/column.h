// A Column has the features of one input of a feature cross, row by row. A cross combines one
// feature of each input. The functions below compute the crosses of every row.
//
// Thread safety: immutable.
// Lifetime: tensors must outlive the columns that are made of them.
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
  // Row i has the values [starts[i], starts[i + 1]).
  Column(const Tensor& values, std::vector<int64_t> starts)
      : values_(&values), starts_(std::move(starts)) {}
  // Makes a column from a matrix. Row i of the column has the values of row i of the matrix.
  static Column Dense(const Tensor& values);

  int64_t First(int64_t row) const { return starts_[static_cast<size_t>(row)]; }
  int64_t Count(int64_t row) const { return starts_[static_cast<size_t>(row) + 1] - First(row); }
  bool is_string() const { return values_->dtype() == DT_STRING; }
  // Text returns value i as a part of a joined string. Hash returns it as a part of a joined hash.
  std::string Text(int64_t i) const;
  uint64_t Hash(int64_t i) const;
  const std::string& String(int64_t i) const { return values_->data<std::string>()[i]; }
  int64_t Number(int64_t i) const { return values_->data<int64_t>()[i]; }

 private:
  const Tensor* values_;
  std::vector<int64_t> starts_;
};
using Columns = std::vector<Column>;

// The crosses of all rows are numbered from 0. Element i of the result is the number of the first
// cross of row i, and the last element is the number of all crosses. INVALID_ARGUMENT if there are
// more than int64 can count.
absl::StatusOr<std::vector<int64_t>> CrossStarts(const Columns& columns, int64_t rows);

// Calls write(number of the cross, row, at) for each cross. at[k] is the index in columns[k] of the
// value that the cross takes from it. The values of the last column vary fastest. Different rows
// may run on different threads.
void ForEachCross(KernelContext& c, const Columns& columns, const std::vector<int64_t>& starts,
                  absl::FunctionRef<void(int64_t, int64_t, const std::vector<int64_t>&)> write);

// Combines two fingerprints to one. Reference: TensorFlow's FingerprintCat64, which uses the mixing
// function of MurmurHash.
uint64_t JoinHashes(uint64_t a, uint64_t b);
// The bucket of a hash, in [0, buckets), or in [0, maximum of int64) if `buckets` is 0.
int64_t BucketOf(uint64_t hash, int64_t buckets);

std::string JoinText(const Columns& columns, const std::vector<int64_t>& at,
                     const std::string& separator);
uint64_t JoinHash(const Columns& columns, const std::vector<int64_t>& at, uint64_t key);

}  // namespace sluice::cross

#endif  // SLUICE_OPS_SPARSE_COLUMN_H_
