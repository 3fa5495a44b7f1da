// Splits a minibatch, which is a sparse tensor, along its first dimension into examples, and stacks
// examples to a minibatch.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT if the tensors are not a valid sparse tensor.
#ifndef SLUICE_OPS_SPARSE_MINIBATCH_H_
#define SLUICE_OPS_SPARSE_MINIBATCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice {

struct SparseParts {
  Tensor indices, values, shape;
};

// The sparse tensor in inputs 0 to 2. Checks that they are a matrix and two vectors.
absl::StatusOr<SparseParts> SparseInput(KernelContext& c);

// Splits a minibatch, whose indices must be sorted and inside its shape.
absl::StatusOr<std::vector<SparseParts>> SplitMinibatch(const SparseParts& minibatch);

// Sets outputs 0 to 2 to the stacked examples, whose number is the product of `outer`. The shape is
// `outer` followed by the maximum sizes of the examples. All values must have type `dtype`.
absl::Status SetMinibatch(KernelContext& c, const std::vector<SparseParts>& examples,
                          const TensorShape& outer, DataType dtype);

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_MINIBATCH_H_
