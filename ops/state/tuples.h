// Converts tuples of tensors to batches and back, and copies parts of tensors.
#ifndef SLUICE_OPS_STATE_TUPLES_H_
#define SLUICE_OPS_STATE_TUPLES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Splits a batch: tuple i has row i of every tensor. Rows are copied to buffers of their own, so
// that they do not keep the batch alive. All tensors have the same first size.
absl::StatusOr<std::vector<Tensors>> SplitRows(Allocator& allocator, const Tensors& batch);
// The inverse of SplitRows: tensor j of the result has component j of all rows. A component must
// have the same shape in all rows.
absl::StatusOr<Tensors> StackRows(Allocator& allocator, const std::vector<Tensors>& rows);
// Stacks rows whose components may differ in size, but not in rank. Components are padded to the
// largest size in each dimension, with zeros, empty strings or false.
absl::StatusOr<Tensors> StackPadded(Allocator& allocator, const std::vector<Tensors>& rows);

// Copies `count` elements between tensors of one type.
void CopyElements(const Tensor& from, int64_t from_offset, int64_t count, Tensor* to,
                  int64_t to_offset);
// Copies `from` into the block of sizes `to_shape` that begins at element `to_offset` of `to`.
// Element [i, j, …] of `from` becomes element [i, j, …] of the block.
void CopyCorner(const Tensor& from, absl::Span<const int64_t> to_shape, Tensor* to,
                int64_t to_offset);
// Sets `count` elements from `at` on to the first element of `value`, a tensor of the same type.
void FillElements(const Tensor& value, Tensor* to, int64_t at, int64_t count);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_TUPLES_H_
