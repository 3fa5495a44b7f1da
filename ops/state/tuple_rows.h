// Tuples of tensors in and out of batches of them.
#ifndef SLUICE_OPS_STATE_TUPLE_ROWS_H_
#define SLUICE_OPS_STATE_TUPLE_ROWS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Row i of every tensor makes tuple i, in buffers of its own: none keeps the batch alive. All have
// the same first dimension.
absl::StatusOr<std::vector<Tensors>> SplitRows(Allocator& allocator, const Tensors& batch);
// The inverse: component j of all rows, one after the other. All of a component have one shape.
absl::StatusOr<Tensors> StackRows(Allocator& allocator, const std::vector<Tensors>& rows);
// The same for shapes that differ in size (not in rank): each component has the largest size of
// each dimension, and what a row does not fill is zero, empty or false.
absl::StatusOr<Tensors> StackPadded(Allocator& allocator, const std::vector<Tensors>& rows);

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_TUPLE_ROWS_H_
