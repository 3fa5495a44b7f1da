// The slice that begin, end, strides and the five masks of StridedSlice select from a tensor.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT with TensorFlow's texts.
// Reference: TensorFlow's StridedSlice.
#ifndef SLUICE_OPS_INDEXING_SLICE_SPEC_H_
#define SLUICE_OPS_INDEXING_SLICE_SPEC_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace sluice {

class OpDefBuilder;

// Adds the attributes begin_mask, end_mask, ellipsis_mask, new_axis_mask and shrink_axis_mask to
// the declaration of an op (OpDefBuilder::With).
void SliceMaskAttrs(OpDefBuilder& op);

struct SliceMasks {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t ellipsis = 0;
  int64_t new_axis = 0;
  int64_t shrink_axis = 0;

  // Reads the masks from the attributes of a KernelInit or ShapeContext.
  template <typename Source>
  static SliceMasks Of(const Source& source) {
    auto get = [&](const char* name) { return source.template attr<int64_t>(name); };
    return {get("begin_mask"), get("end_mask"), get("ellipsis_mask"), get("new_axis_mask"),
            get("shrink_axis_mask")};
  }
};

// The slice of each dimension of the input, and the shape of the result.
struct SliceSpec {
  struct Dim {
    int64_t begin = 0;
    int64_t stride = 1;
    int64_t size = 0;  // number of elements, -1 if unknown
  };
  absl::InlinedVector<Dim, 4> dims;
  // The dimension of `result` for each dimension of the input. -1 if the dimension is removed.
  absl::InlinedVector<int, 4> result_dims;
  PartialShape result;      // without removed dimensions, with new ones
  bool is_identity = true;  // all elements are selected in order
};

// Finds the slice that the other arguments select from a tensor of shape `input`. `begin` and `end`
// are nullopt if they are not known yet, while a graph is built.
absl::StatusOr<SliceSpec> ResolveSlice(const PartialShape& input,
                                       std::optional<absl::Span<const int64_t>> begin,
                                       std::optional<absl::Span<const int64_t>> end,
                                       absl::Span<const int64_t> strides, const SliceMasks& masks);

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SLICE_SPEC_H_
