// Tuples of tensors, and rows of batches of tuples.
#ifndef SLUICE_OPS_STATE_TUPLES_H_
#define SLUICE_OPS_STATE_TUPLES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Splits a batch: tuple i is row i of every tensor, in buffers of its own so that it does not keep
// the batch alive. All tensors have the same first size.
absl::StatusOr<std::vector<Tensors>> SplitRows(Allocator& allocator, const Tensors& batch);
// The inverse: stacks component j of all rows. Its shape is the same in all rows.
absl::StatusOr<Tensors> StackRows(Allocator& allocator, const std::vector<Tensors>& rows);
// Stacks rows of different sizes but equal ranks. A component has the largest size of each
// dimension. The rest is zero, empty or false.
absl::StatusOr<Tensors> StackPadded(Allocator& allocator, const std::vector<Tensors>& rows);

// Copies `count` elements between tensors of one type.
void CopyElements(const Tensor& from, int64_t from_offset, int64_t count, Tensor* to,
                  int64_t to_offset);
// Copies `from` to the corner at element `to_offset` of a larger block of sizes `to_shape`.
void CopyCorner(const Tensor& from, absl::Span<const int64_t> to_shape, Tensor* to,
                int64_t to_offset);
// Sets `count` elements from `at` on to the first element of `value`, a tensor of the same type.
void FillElements(const Tensor& value, Tensor* to, int64_t at, int64_t count);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_TUPLES_H_
