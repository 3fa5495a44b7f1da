// Ops that count equal values per row and return the counts as a sparse tensor.
#include <algorithm>

#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Sets the shapes of a sparse tensor of counts with `rank` dimensions (-1 if unknown).
absl::Status CountsOfRank(ShapeContext& c, int64_t rank) {
  c.SetOutput(0, PartialShape::Matrix(-1, rank)).IgnoreError();
  c.SetOutput(1, PartialShape::Vector()).IgnoreError();
  return c.SetOutput(2, PartialShape::Vector(rank));
}

// Declares the weights of the values, the attributes and the outputs.
void CountsValues(OpDefBuilder& op) {
  op.Input("weights", "output_type").Output("output_indices", DT_INT64);
  op.Output("output_values", "output_type").Output("output_dense_shape", DT_INT64);
  op.Attr("T", TypeAttr(IndexTypes()));
  op.Attr("minlength", IntAttr(-1).Min(-1)).Attr("maxlength", IntAttr(-1).Min(-1));
  op.Attr("binary_output", BoolAttr());
  op.Attr("output_type", TypeAttr(TypeSet{DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE}));
}

OP(DenseCountSparseOutput,
   "Counts the values of a vector, or of each row of a matrix, or sums their weights. Values from "
   "maxlength on are ignored.")
    .Input("values", "T")
    .With(CountsValues)
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape counted = c.input(0);
      if (c.input(1).num_elements() != 0) {
        SLUICE_ASSIGN_OR_RETURN(counted, counted.MergeWith(c.input(1)));
      }
      return CountsOfRank(c, counted.rank());
    });

OP(SparseCountSparseOutput, "DenseCountSparseOutput of a sparse tensor.")
    .Input("indices", DT_INT64)
    .Input("values", "T")
    .Input("dense_shape", DT_INT64)
    .With(CountsValues)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRank(0, 2));
      return CountsOfRank(c, std::min<int64_t>(indices.dim(1), 2));
    });

OP(RaggedCountSparseOutput, "DenseCountSparseOutput of the rows of a ragged tensor.")
    .Input("splits", DT_INT64)
    .Input("values", "T")
    .With(CountsValues)
    .Shape([](ShapeContext& c) { return CountsOfRank(c, 2); });

}  // namespace
}  // namespace sluice
