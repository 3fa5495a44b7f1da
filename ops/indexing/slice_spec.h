// What begin, end, strides and the five masks of StridedSlice mean for a tensor of a given shape.
//
// Thread safety: a value. Errors: INVALID_ARGUMENT with TensorFlow's texts.
#ifndef SLUICE_OPS_INDEXING_SLICE_SPEC_H_
#define SLUICE_OPS_INDEXING_SLICE_SPEC_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct SliceMasks {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t ellipsis = 0;
  int64_t new_axis = 0;
  int64_t shrink_axis = 0;

  // Read from attributes begin_mask, end_mask, … of anything that has `attr<int64_t>(name)`.
  template <typename Source>
  static SliceMasks Of(const Source& source) {
    auto get = [&](const char* name) { return source.template attr<int64_t>(name); };
    return {get("begin_mask"), get("end_mask"), get("ellipsis_mask"), get("new_axis_mask"),
            get("shrink_axis_mask")};
  }
};

// The slice of each dimension of the input, and the shape that remains.
struct SliceSpec {
  struct Dim {
    int64_t begin = 0;
    int64_t stride = 1;
    int64_t size = 0;  // elements taken; -1 unknown
  };
  absl::InlinedVector<Dim, 4> dims;
  // Where in `result` each dimension of the input is; -1 where it was removed.
  absl::InlinedVector<int, 4> result_dims;
  PartialShape result;      // after removed dimensions left and new ones came
  bool is_identity = true;  // every dimension is taken whole and in order
};

// `begin` and `end` may be missing while a graph is built; `strides` must be there.
absl::StatusOr<SliceSpec> ResolveSlice(const PartialShape& input,
                                       std::optional<absl::Span<const int64_t>> begin,
                                       std::optional<absl::Span<const int64_t>> end,
                                       absl::Span<const int64_t> strides, const SliceMasks& masks);

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SLICE_SPEC_H_
