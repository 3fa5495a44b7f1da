// Checks and readings of row splits.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT.
#ifndef SLUICE_OPS_RAGGED_SPLITS_H_
#define SLUICE_OPS_RAGGED_SPLITS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/status.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"

namespace sluice {

// How far apart two elements lie.
inline size_t StrideOf(DataType dtype) {
  return WithElement(dtype, [](auto tag) { return sizeof(typename decltype(tag)::type); });
}

// A vector of rising numbers from 0 (or more) up to `count` at most.
inline absl::StatusOr<std::vector<int64_t>> SplitsOf(const Tensor& t, int64_t count) {
  if (t.rank() != 1) {
    return InvalidArgument("Ragged splits must have rank 1, got shape ", t.shape().ToString());
  }
  if (t.num_elements() == 0) return InvalidArgument("Ragged splits may not be empty");
  std::vector<int64_t> splits;
  splits.reserve(static_cast<size_t>(t.num_elements()));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const int64_t at = IntAt(t, i);
    if (at < 0) return InvalidArgument("Ragged splits must be non-negative, got ", at);
    if (i > 0 && at < splits.back()) {
      return InvalidArgument("Ragged splits must be sorted, got ", at, " after ", splits.back());
    }
    if (at > count) {
      return InvalidArgument("Ragged splits must not point past values, got ", at, " of ", count);
    }
    splits.push_back(at);
  }
  return splits;
}

}  // namespace sluice

#endif  // SLUICE_OPS_RAGGED_SPLITS_H_
