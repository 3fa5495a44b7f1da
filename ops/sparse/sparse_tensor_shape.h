// Shape functions of ops on sparse tensors. A sparse tensor is three tensors in a row: indices
// [entries, rank], values [entries] and dense shape [rank].
#ifndef SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_
#define SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_

#include <cstdint>

#include "graph/infer/shape_context.h"

namespace sluice {

// Outputs `first` to `first` + 2 become a sparse tensor. -1: unknown.
inline absl::Status SetSparse(ShapeContext& c, int first, int64_t rank, int64_t entries = -1) {
  c.SetOutput(first, {entries, rank}).IgnoreError();
  c.SetOutput(first + 1, {entries}).IgnoreError();
  return c.SetOutput(first + 2, {rank});
}

// The rank of the sparse tensor whose inputs start at `first`; -1 if it is unknown.
inline absl::StatusOr<int64_t> SparseRank(ShapeContext& c, int first) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(first, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(first + 1, 1));
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(first + 2, 1));
  SLUICE_RETURN_IF_ERROR(MergeDim(indices.dim(0), values.dim(0)).status());
  return MergeDim(indices.dim(1), shape.dim(0));
}

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_
