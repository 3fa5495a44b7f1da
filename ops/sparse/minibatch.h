// Sparse tensors one by one, and as one of a rank more: a minibatch cut into its examples, and
// examples put together.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT.
#ifndef SLUICE_OPS_SPARSE_MINIBATCH_H_
#define SLUICE_OPS_SPARSE_MINIBATCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice {

struct SparseParts {
  Tensor indices, values, shape;
};

// Inputs 0 to 2: a matrix and two vectors.
absl::StatusOr<SparseParts> SparseInput(KernelContext& c);

// The examples of a minibatch whose indices are in order and inside its shape.
absl::StatusOr<std::vector<SparseParts>> SplitMinibatch(const SparseParts& minibatch);

// Examples put together into outputs 0 to 2, under the dimensions `outer` (whose product is their
// number) in front of their own. Sizes of the shape are the greatest of the examples'. All must
// have values of type `dtype`.
absl::Status SetMinibatch(KernelContext& c, const std::vector<SparseParts>& examples,
                          const TensorShape& outer, DataType dtype);

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_MINIBATCH_H_
