// Converts the slices of StridedSlice and similar ops to boxes (a size and strides per dimension),
// which CopyStrided copies from one tensor to another (ops/loops/strided_copy.h).
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_INDEXING_SLICE_BOX_H_
#define SLUICE_OPS_INDEXING_SLICE_BOX_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "graph/tensor/shape.h"
#include "ops/indexing/slice_spec.h"
#include "ops/loops/strided_copy.h"

namespace sluice {

// Reads begin, end and strides (inputs first, first + 1 and first + 2) for a tensor of shape `in`.
absl::StatusOr<SliceSpec> ReadSliceSpec(KernelContext& c, int first, const TensorShape& in,
                                        const SliceMasks& masks);

// A slice of a tensor. `dims` describe the copy of the slice to a dense tensor of shape `part`.
struct SliceBox {
  absl::InlinedVector<CopyDim, 8> dims;
  int64_t offset = 0;  // index in the tensor of the first element of the slice
  TensorShape part;    // the shape of the slice, with all dimensions of the tensor
};
SliceBox SliceBoxOf(const SliceSpec& spec, const TensorShape& in);

// Describes the assignment of a tensor of shape `value` to the slice of a tensor of shape `in`. The
// value is broadcast to the shape of the slice.
absl::StatusOr<CopyBox> BoxOfValue(const SliceSpec& spec, const TensorShape& in,
                                   const TensorShape& value);

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SLICE_BOX_H_
