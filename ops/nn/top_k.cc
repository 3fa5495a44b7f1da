// Ops on the greatest elements of each row.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/scatter_nd_builders.h"
#endif

namespace sluice {
namespace {

absl::Status TopKShape(ShapeContext& c, int64_t k) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRankAtLeast(0, 1));
  if (!input.rank_known()) return c.SetOutputs(input);
  const int last = input.rank() - 1;
  SLUICE_INVALID_IF(k >= 0 && input.dim(last) >= 0 && input.dim(last) < k,
                    "input must have last dimension >= k = ", k, " but is ", input.dim(last));
  input.set_dim(last, k);
  return c.SetOutputs(input);
}

absl::Status InTopKShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape predictions, c.WithRank(0, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape targets, c.WithRank(1, 1));
  SLUICE_ASSIGN_OR_RETURN(int64_t batch, MergeDim(predictions.dim(0), targets.dim(0)));
  return c.SetOutput(0, {batch});
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Passes the gradient to the selected elements. Computes their indices in the flattened input, in
// which row r starts at r * (last size).
void TopKGradient(Backprop& b) {
  Graph& g = b.graph();
  auto last_size = [&](Output shape) {
    return GatherV2(Cast(shape, DT_INT64), SizeOf(shape) - 1, Constant(g, 0, "GatherV2/axis"));
  };
  Output input_shape = ShapeOf(b.Value("input")), indices = b.Value("indices");
  Output chosen = last_size(ShapeOf(indices));
  Output rows = Reshape(indices, Pack({Constant(g, int64_t{-1}, "stack/0"), chosen}));
  Output row_size = last_size(input_shape);
  Output num_rows = ElementAt(ShapeOf(rows), 0);
  Output starts =
      Range(Constant(g, int64_t{0}, "range/start"), Cast(num_rows, DT_INT64) * row_size, row_size);
  Output flat = Reshape(rows + Cast(ExpandDims(starts, -1), indices.dtype()), {-1});
  Output size = Pack({ReduceProd(input_shape, 0)}, {.name = "ScatterNd/shape"});
  Output scattered =
      ScatterNd(ExpandDims(flat, -1), Reshape(b.Of("values"), {-1}), Cast(size, indices.dtype()));
  b.Into("input", Reshape(scattered, input_shape));
}
#endif

OP(InTopK,
   "Tests whether the target class is among the k greatest predictions of its row. Predictions "
   "that equal the target's do not count as greater. False for a row with numbers that are not "
   "finite, or with a target out of range. predictions are [batch, classes], targets [batch].")
    .Input("predictions", DT_FLOAT)
    .Input("targets", "T")
    .Output("precision", DT_BOOL)
    .Attr("k", IntAttr())
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(InTopKShape);

OP(InTopKV2, "InTopK with k as a tensor.")
    .Input("predictions", DT_FLOAT)
    .Input("targets", "T")
    .Input("k", "T")
    .Output("precision", DT_BOOL)
    .Attr("T", TypeAttr(IndexTypes(), DT_INT32))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_INVALID_IF(c.input(2).rank() > 0, "k must be 0-D, got shape ", c.input(2).ToString());
      return InTopKShape(c);
    });

OP(TopK, "TopKV2 with k as an attribute.")
    .Input("input", "T")
    .Output("values", "T")
    .Output("indices", DT_INT32)
    .Attr("k", IntAttr().Min(0))
    .Attr("sorted", BoolAttr(true))
    .Attr("T", TypeAttr(RealTypes()))
    .Deprecated(7, "Use TopKV2 instead")
    .Shape([](ShapeContext& c) { return TopKShape(c, c.attr<int64_t>("k")); })
        GRADIENT(TopKGradient);

OP(TopKV2,
   "Returns the k greatest elements of each row (last dimension) in descending order, and their "
   "indices. Among equal elements, the first comes first.")
    .Input("input", "T")
    .Input("k", "Tk")
    .Output("values", "T")
    .Output("indices", "index_type")
    .Attr("sorted", BoolAttr(true))
    .Attr("T", TypeAttr(RealTypes()))
    .Attr("Tk", TypeAttr(IndexTypes() | TypeSet{DT_INT16}, DT_INT32))
    .Attr("index_type", TypeAttr(IndexTypes() | TypeSet{DT_INT16}, DT_INT32))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_INVALID_IF(c.input(1).rank() > 0, "k must be scalar, got shape ",
                        c.input(1).ToString());
      SLUICE_ASSIGN_OR_RETURN(const int64_t k, c.InputAsSize(1));
      return TopKShape(c, k);
    }) GRADIENT(TopKGradient);

}  // namespace
}  // namespace sluice
