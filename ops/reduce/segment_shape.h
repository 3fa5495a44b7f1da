// A helper for the shape functions of segment ops.
#ifndef SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_
#define SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice {

// The shape of `data` with `rows` as its first size.
inline PartialShape RowsOf(PartialShape data, int64_t rows) {
  if (data.rank_known() && data.rank() > 0) data.set_dim(0, rows);
  return data;
}

}  // namespace sluice

#endif  // SLUICE_OPS_REDUCE_SEGMENT_SHAPE_H_
