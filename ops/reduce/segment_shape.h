// Parts of the shape functions of segment ops.
#ifndef SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_
#define SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice {

// The shape of `data` with `rows` as its first size.
inline PartialShape RowsOf(PartialShape data, int64_t rows) {
  if (data.rank_known() && data.rank() > 0) data.set_dim(0, rows);
  return data;
}

// The number of segments given by input i, a scalar. -1 if it is unknown.
// INVALID_ARGUMENT "Dimension size, given by scalar input 2, must be non-negative but is -1".
inline absl::StatusOr<int64_t> SegmentCount(ShapeContext& c, int i) {
  const std::optional<Tensor> value = c.InputValue(i);
  if (!value || value->num_elements() != 1) return -1;
  const int64_t n =
      value->dtype() == DT_INT64 ? value->scalar<int64_t>() : value->scalar<int32_t>();
  if (n < 0) {
    return InvalidArgument("Dimension size, given by scalar input ", i,
                           ", must be non-negative but is ", n);
  }
  return n;
}

}  // namespace sluice

#endif  // SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_
