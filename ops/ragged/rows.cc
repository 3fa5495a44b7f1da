// Ops on the rows of ragged tensors. Row i has the values [row_splits[i], row_splits[i + 1]).
// value_rowids has the row of each value.

#include "graph/tensor/sizes.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/ragged/rows_builders.h"
#endif

namespace sluice {
namespace {

constexpr TypeSet kCounted{DT_INT32, DT_INT64, DT_FLOAT, DT_DOUBLE};

absl::Status SparseBincountShape(ShapeContext& c) {
  const std::optional<Tensor> size = c.InputValue(3), shape = c.InputValue(2);
  if (!size) return c.SetOutput(0, PartialShape::UnknownRank());
  SLUICE_INVALID_IF(size->rank() != 0, "Shape must be rank 0 but is rank ", size->rank());
  const int64_t bins =
      size->dtype() == DT_INT32 ? size->scalar<int32_t>() : size->scalar<int64_t>();
  SLUICE_INVALID_IF(bins < 0, "size (", bins, ") must be non-negative");
  if (!shape) return c.SetOutput(0, PartialShape::UnknownRank());
  if (shape->num_elements() == 1) return c.SetOutput(0, {bins});
  SLUICE_INVALID_IF(shape->num_elements() != 2, "Input must be less than rank 2");
  const int64_t rows = shape->data<int64_t>()[0];
  SLUICE_INVALID_IF(rows < 0, "Dimension ", rows, " must be >= 0");
  return c.SetOutput(0, {rows, bins});
}

absl::Status GatherShape(ShapeContext& c) {
  const auto [first, last] = c.InputRange("params_nested_splits");
  SLUICE_ASSIGN_OR_RETURN(const PartialShape values, c.WithRankAtLeast(last, 1));
  for (int i = first; i < last; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  const PartialShape& indices = c.input(last + 1);
  const int num_splits = c.num_outputs() - 1;
  SLUICE_INVALID_IF(indices.rank_known() && num_splits != indices.rank() + (last - first) - 1,
                    "expected OUTPUT_RAGGED_RANK to be ", indices.rank() + last - first - 1,
                    " for indices of rank ", indices.rank(), ", got ", num_splits);
  for (int i = 0; i < num_splits; ++i) c.SetOutput(i, {-1}).IgnoreError();
  if (!values.rank_known()) return c.SetOutput(num_splits, values);
  PartialShape out = values;
  out.set_dim(0, -1);
  return c.SetOutput(num_splits, out);
}

absl::Status RangeShape(ShapeContext& c) {
  int64_t rows = -1;
  bool all_scalars = true;
  for (int i = 0; i < 3; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRankAtMost(i, 1));
    if (!s.rank_known()) {
      all_scalars = false;
    } else if (s.rank() == 1) {
      all_scalars = false;
      SLUICE_ASSIGN_OR_RETURN(rows, MergeDim(rows, s.dim(0)));
    }
  }
  if (all_scalars) rows = 1;
  c.SetOutput(0, {rows < 0 ? -1 : SaturatedSum(rows, 1)}).IgnoreError();
  return c.SetOutput(1, {-1});
}

void BincountOp(OpDefBuilder& op) {
  op.Input("size", "Tidx").Input("weights", "T").Output("output", "T");
  op.Attr("Tidx", TypeAttr(IndexTypes())).Attr("T", TypeAttr(kCounted));
  op.Attr("binary_output", BoolAttr(false));
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds a gradient of IndexedSlices, because each gathered value is a row of the dense values.
void GatherGradient(Backprop& b) {
  Graph& g = b.graph();
  const OutputList splits = b.Values("params_nested_splits");
  Output zero = IndexScalar(g, 0);
  Output starts = splits[0];
  for (size_t i = 1; i < splits.size(); ++i) starts = GatherV2(splits[i], starts, zero);
  Output flat = Reshape(b.Value("indices"), std::vector<int64_t>{-1});
  Output from = GatherV2(starts, flat, zero);
  Output to = GatherV2(PartOf(starts, 1, kToTheEnd), flat, zero);
  Output one = IndexScalar(g, 1, BaseType(from.dtype()));
  Output rows = RaggedRange(from, to, one, {.Tsplits = BaseType(from.dtype())}).rt_dense_values;
  Output shape = ShapeNode(b.Value("params_dense_values"));
  b.Into("params_dense_values", IndexedSlices{b.Of("output_dense_values"), rows, shape});
}
#endif

OP(RaggedBincount, "Counts the numbers below `size` in each row, or sums their weights.")
    .Input("splits", DT_INT64)
    .Input("values", "Tidx")
    .With(BincountOp)
    .Shape(UnknownOutputs());

OP(RaggedFillEmptyRows,
   "Adds default_value to rows without values. Returns also which rows were empty, and the new "
   "number of each value.")
    .Input("value_rowids", DT_INT64)
    .Input("values", "T")
    .Input("nrows", DT_INT64)
    .Input("default_value", "T")
    .Output("output_value_rowids", DT_INT64)
    .Output("output_values", "T")
    .Output("empty_row_indicator", DT_BOOL)
    .Output("reverse_index_map", DT_INT64)
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape rows, c.WithRank(0, 1));
      SLUICE_ASSIGN_OR_RETURN(const PartialShape values, c.WithRank(1, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(3, 0).status());
      SLUICE_ASSIGN_OR_RETURN(const int64_t count, MergeDim(rows.dim(0), values.dim(0)));
      const std::optional<std::vector<int64_t>> nrows = c.InputInts(2);
      const int64_t known = nrows && nrows->size() == 1 ? (*nrows)[0] : -1;
      c.SetOutput(0, {-1}).IgnoreError();
      c.SetOutput(1, {-1}).IgnoreError();
      c.SetOutput(2, {known < 0 ? -1 : known}).IgnoreError();
      return c.SetOutput(3, {count});
    }) GRADIENT([](Backprop& b) {
      auto grads = RaggedFillEmptyRowsGrad(b.Value("reverse_index_map"), b.Of("output_values"));
      b.Into("values", grads.d_values);
      b.Into("default_value", grads.d_default_value);
    });

OP(RaggedFillEmptyRowsGrad,
   "Computes the gradient of RaggedFillEmptyRows with respect to the values and the default value.")
    .Input("reverse_index_map", DT_INT64)
    .Input("grad_values", "T")
    .Output("d_values", "T")
    .Output("d_default_value", "T")
    .Attr("T", TypeAttr())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape map, c.WithRank(0, 1));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      c.SetOutput(0, map).IgnoreError();
      return c.SetOutput(1, PartialShape::Scalar());
    });

OP(RaggedGather, "Gathers rows of a ragged tensor as a ragged tensor.")
    .Input("params_nested_splits", "PARAMS_RAGGED_RANK*Tsplits")
    .Input("params_dense_values", "Tvalues")
    .Input("indices", "Tindices")
    .Output("output_nested_splits", "OUTPUT_RAGGED_RANK*Tsplits")
    .Output("output_dense_values", "Tvalues")
    .Attr("Tvalues", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Attr("PARAMS_RAGGED_RANK", IntAttr().Min(1))
    .Attr("OUTPUT_RAGGED_RANK", IntAttr().Min(0))
    .Shape(GatherShape) GRADIENT(GatherGradient);

OP(RaggedRange,
   "Returns rows of numbers from starts up to and excluding limits in steps of deltas. Scalars are "
   "broadcast.")
    .Input("starts", "T")
    .Input("limits", "T")
    .Input("deltas", "T")
    .Output("rt_nested_splits", "Tsplits")
    .Output("rt_dense_values", "T")
    .Attr("T", TypeAttr(TypeSet{DT_BFLOAT16, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}, DT_INT32))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .NotDifferentiable()
    .Shape(RangeShape);

OP(SparseBincount,
   "Counts the numbers below `size` in each row or in a vector, or sums their weights.")
    .Input("indices", DT_INT64)
    .Input("values", "Tidx")
    .Input("dense_shape", DT_INT64)
    .With(BincountOp)
    .Shape(SparseBincountShape);

}  // namespace
}  // namespace sluice
