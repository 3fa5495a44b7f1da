// Reads and checks row splits of ragged tensors. Row i begins with value number splits[i] and ends
// before number splits[i + 1].
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT if the splits are not valid.
#ifndef SLUICE_OPS_RAGGED_SPLITS_H_
#define SLUICE_OPS_RAGGED_SPLITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/int_tensor.h"

namespace sluice {

using Splits = std::vector<int64_t>;

// Reads the splits in `t`, which must be ascending numbers in [0, count].
inline absl::StatusOr<Splits> SplitsOf(const Tensor& t, int64_t count) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(t, 1, "Ragged splits must have rank 1, got shape "));
  SLUICE_INVALID_IF(t.num_elements() == 0, "Ragged splits may not be empty");
  Splits splits;
  splits.reserve(static_cast<size_t>(t.num_elements()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t at = IntAt(t, i);
    SLUICE_INVALID_IF(at < 0, "Ragged splits must be non-negative, got ", at);
    SLUICE_INVALID_IF(i > 0 && at < splits.back(), "Ragged splits must be sorted, got ", at,
                      " after ", splits.back());
    SLUICE_INVALID_IF(at > count, "Ragged splits must not point past values, got ", at, " of ",
                      count);
    splits.push_back(at);
  }
  return splits;
}

// Reads the splits in inputs [0, ragged_rank), outermost dimension first. The last ones split
// `count` values, and the others split the rows of the next input.
inline absl::StatusOr<std::vector<Splits>> NestedSplitsOf(KernelContext& c, int ragged_rank,
                                                          int64_t count) {
  std::vector<Splits> all(static_cast<size_t>(ragged_rank));
  for (int i = ragged_rank - 1; i >= 0; --i) {
    SLUICE_ASSIGN_OR_RETURN(all[static_cast<size_t>(i)], SplitsOf(c.input(i), count));
    count = static_cast<int64_t>(all[static_cast<size_t>(i)].size()) - 1;
  }
  return all;
}

// Splits of `rows` rows with `length` values each.
inline Splits EvenSplits(int64_t rows, int64_t length) {
  Splits splits;
  splits.reserve(static_cast<size_t>(rows) + 1);
  for (int64_t i = 0; i <= rows; ++i) splits.push_back(SaturatedProduct(i, length));
  return splits;
}

}  // namespace sluice

#endif  // SLUICE_OPS_RAGGED_SPLITS_H_
