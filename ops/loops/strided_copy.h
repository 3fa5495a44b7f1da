// Copies a box of elements from one layout to another: what slices, pads, transposes, tiles,
// concatenates, splits, reverses and broadcasts.
//
// Thread safety: a copy runs over the threads of the kernel's context and writes nothing but the
// destination. Memory: the caller's; source and destination do not overlap. Errors: none; the
// caller answers for every element lying inside its tensor.
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

// One dimension of the box: its size, and how far the next element lies in each tensor, in
// elements. A source stride may be 0 (repeat) or negative (backwards).
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// The box, outermost dimension first, and where its first element lies in each tensor.
struct CopyBox {
  absl::InlinedVector<CopyDim, 8> dims;
  int64_t from_offset = 0;
  int64_t to_offset = 0;

  int64_t num_elements() const;
};

// Elements between neighbours along each dimension of a row-major tensor; zeros where there are no
// elements.
absl::InlinedVector<int64_t, 8> RowMajorStrides(const TensorShape& shape);

// `from` and `to`: the first elements of the tensors, of type `dtype`.
void CopyStrided(KernelContext& context, DataType dtype, const void* from, void* to, CopyBox box);

// Every one of `count` elements at `to` becomes `*value`.
void FillElements(KernelContext& context, DataType dtype, const void* value, void* to,
                  int64_t count);

// Elements as they lie.
void CopyElements(KernelContext& context, DataType dtype, const void* from, void* to,
                  int64_t count);

// The elements of `parts` as they lie, one tensor behind the other, by one thread.
void JoinElements(absl::Span<const Tensor> parts, Tensor* out);

// The address of element `i`.
inline const void* ElementAt(const void* base, int64_t i, size_t stride) {
  return static_cast<const char*>(base) + i * static_cast<int64_t>(stride);
}
inline void* ElementAt(void* base, int64_t i, size_t stride) {
  return static_cast<char*>(base) + i * static_cast<int64_t>(stride);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_STRIDED_COPY_H_
