// Mixins and shape functions of ops on sparse tensors. A sparse tensor is three consecutive
// tensors: indices [entries, rank], values [entries] and dense shape [rank]. A mixin is a function
// that adds inputs, outputs or attributes to an op's declaration (OpDefBuilder::With).
#ifndef SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_
#define SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_

#include <cstdint>
#include <string>

#include "graph/infer/shape_context.h"
#include "graph/op/op_def.h"

namespace sluice {

// Mixins that declare the inputs or outputs <prefix>indices, <prefix>values and <prefix>shape.
// `type` is the attribute that has the type of the values.
struct SparseInput {
  std::string prefix;
  const char* type = "T";
  void operator()(OpDefBuilder& op) const {
    op.Input(prefix + "indices", DT_INT64).Input(prefix + "values", type);
    op.Input(prefix + "shape", DT_INT64);
  }
};
struct SparseOutput {
  std::string prefix;
  const char* type = "T";
  void operator()(OpDefBuilder& op) const {
    op.Output(prefix + "indices", DT_INT64).Output(prefix + "values", type);
    op.Output(prefix + "shape", DT_INT64);
  }
};

// Sets the shapes of outputs first, first + 1 and first + 2, which are a sparse tensor. A `rank` or
// `entries` of -1 is unknown.
inline absl::Status SetSparse(ShapeContext& c, int first, int64_t rank, int64_t entries = -1) {
  c.SetOutput(first, {entries, rank}).IgnoreError();
  c.SetOutput(first + 1, {entries}).IgnoreError();
  return c.SetOutput(first + 2, {rank});
}

// The rank of the sparse tensor in inputs first, first + 1 and first + 2. -1 if it is unknown.
inline absl::StatusOr<int64_t> SparseRank(ShapeContext& c, int first) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(first, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape values, c.WithRank(first + 1, 1));
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(first + 2, 1));
  const int64_t rows = indices.dim(0), count = values.dim(0);
  SLUICE_INVALID_IF(rows >= 0 && count >= 0 && rows != count, "Number of elements in index (", rows,
                    ") and values (", count, ") do not match.");
  return MergeDim(indices.dim(1), shape.dim(0));
}

}  // namespace sluice

#endif  // SLUICE_OPS_SPARSE_SPARSE_TENSOR_SHAPE_H_
