// Computes the shapes of the outputs of random ops. Parameters of a distribution broadcast to the
// last dimensions of the output.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT if shapes do not fit.
#ifndef SLUICE_OPS_RANDOM_SAMPLE_SHAPE_H_
#define SLUICE_OPS_RANDOM_SAMPLE_SHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice::random {

// Reads the shape input of a random op, a vector of int32 or int64.
absl::StatusOr<TensorShape> ShapeFromInput(const Tensor& t);

// Allocates output 0 with the shape that `shape_input` holds. `parameters` is the shape that the
// parameters of the distribution broadcast to. The shape of the output must end with its sizes.
absl::StatusOr<Tensor*> AllocateSamples(KernelContext& c, const Tensor& shape_input,
                                        const TensorShape& parameters);

// Returns the shape that the inputs [first, last) broadcast to.
absl::StatusOr<TensorShape> BroadcastOfInputs(KernelContext& c, int first, int last);

// Returns the index of the element that is copied to element `i` of the result if a tensor of shape
// `from` is broadcast to shape `to`.
int64_t BroadcastIndex(const TensorShape& from, const TensorShape& to, int64_t i);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SAMPLE_SHAPE_H_
