// Copies a box of elements from one layout to another. Kernels use it to slice, pad, transpose,
// tile, concatenate, split, reverse and broadcast tensors.
//
// Thread safety: a copy runs on the threads of the kernel's context and writes only the
// destination.
// Memory: the caller allocates source and destination, which must not overlap. All elements of the
// box must lie inside both tensors.
#ifndef SLUICE_OPS_LOOPS_STRIDED_COPY_H_
#define SLUICE_OPS_LOOPS_STRIDED_COPY_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class KernelContext;

// One dimension of the box: its size, and the stride in each tensor, in elements. The stride of the
// source may be 0 (repeats) or negative (goes backwards).
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// The box, outermost dimension first, and the offset of its first element in each tensor.
struct CopyBox {
  absl::InlinedVector<CopyDim, 8> dims;
  int64_t from_offset = 0;
  int64_t to_offset = 0;

  int64_t num_elements() const;
};

// The strides of a row-major tensor, in elements. All are 0 if the tensor is empty.
absl::InlinedVector<int64_t, 8> RowMajorStrides(const TensorShape& shape);

// Copies the elements of `box`. `from` and `to` point to the first elements of two tensors of type
// `dtype`.
void CopyStrided(KernelContext& context, DataType dtype, const void* from, void* to, CopyBox box);

// Sets `count` elements at `to` to `*value`.
void FillElements(KernelContext& context, DataType dtype, const void* value, void* to,
                  int64_t count);

// Copies `count` contiguous elements.
void CopyElements(KernelContext& context, DataType dtype, const void* from, void* to,
                  int64_t count);

// Concatenates the elements of `parts` in the calling thread.
void JoinElements(absl::Span<const Tensor> parts, Tensor* out);

// The address of element `i` of an array at `base` whose elements are `stride` bytes apart.
inline const void* ElementAt(const void* base, int64_t i, size_t stride) {
  return static_cast<const char*>(base) + i * static_cast<int64_t>(stride);
}
inline void* ElementAt(void* base, int64_t i, size_t stride) {
  return static_cast<char*>(base) + i * static_cast<int64_t>(stride);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_STRIDED_COPY_H_
