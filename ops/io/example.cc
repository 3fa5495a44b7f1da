// Ops that parse serialised Examples.
#include "graph/tensor/sizes.h"
#include "ops/io/feature_shapes.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Sets the output shapes of an op that returns the features of a batch of examples of shape
// `batch`.
absl::Status FeatureShapes(ShapeContext& c, const PartialShape& batch, int64_t num_sparse,
                           int64_t num_ragged) {
  const auto& dense_shapes = c.attr<std::vector<PartialShape>>("dense_shapes");
  const auto& dense_types = c.attr<std::vector<DataType>>("Tdense");
  SLUICE_INVALID_IF(dense_shapes.size() != dense_types.size(),
                    "len(dense_keys) != len(dense_shapes): ", dense_types.size(), " vs. ",
                    dense_shapes.size());
  const int64_t rank = batch.rank_known() ? batch.rank() + 1 : PartialShape::kUnknown;
  int64_t splits = PartialShape::kUnknown;
  if (rank == 1) splits = 0;
  if (rank == 2 && batch.dim(0) >= 0) splits = SaturatedSum(batch.dim(0), 1);
  OutputShapes out(c);
  out.AddSparse(num_sparse, rank);
  for (const PartialShape& shape : dense_shapes) out.Add(1, batch.Concatenate(shape));
  out.Add(num_ragged, PartialShape::Vector());
  out.Add(num_ragged, PartialShape::Vector(splits));
  return absl::OkStatus();
}

template <bool kV2>
absl::Status ParseShape(ShapeContext& c) {
  if (!kV2) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRank(0, 1));
    return FeatureShapes(c, batch, c.attr<int64_t>("Nsparse"), 0);
  }
  SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRankAtMost(0, 1));
  const auto ragged = c.attr<std::vector<DataType>>("ragged_value_types").size();
  return FeatureShapes(c, batch, c.attr<int64_t>("num_sparse"), static_cast<int64_t>(ragged));
}

absl::Status ParseSingleShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  return FeatureShapes(c, PartialShape::Scalar(), c.attr<int64_t>("num_sparse"), 0);
}

// Declares the outputs for sparse and dense features. Attribute `num_sparse` is the number of
// sparse ones.
auto ReturnsFeatures(const std::string& num_sparse) {
  return [num_sparse](OpDefBuilder& op) {
    op.Output("sparse_indices", num_sparse + "*int64")
        .Output("sparse_values", "sparse_types")
        .Output("sparse_shapes", num_sparse + "*int64")
        .Output("dense_values", "Tdense");
  };
}

OP(ParseExample,
   "Parses as ParseExampleV2 does, without ragged features and with an input per key.")
    .Input("serialized", DT_STRING)
    .Input("names", DT_STRING)
    .Input("sparse_keys", "Nsparse*string")
    .Input("dense_keys", "Ndense*string")
    .Input("dense_defaults", "Tdense")
    .With(ReturnsFeatures("Nsparse"))
    .With(Attrs({"Nsparse", "Ndense"}, IntAttr().Min(0)))
    .With(Attrs({"sparse_types", "Tdense"}, TypeListAttr(kFeatureTypes).Min(0)))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseShape<false>);

OP(ParseExampleV2,
   "Parses the features of serialised Examples. Dense features have a shape and a default. Sparse "
   "ones become indices, values and shape, and ragged ones values and row splits. A scalar is a "
   "single example, whose outputs lack the first dimension.")
    .With(Inputs({"serialized", "names", "sparse_keys", "dense_keys", "ragged_keys"}, DT_STRING))
    .Input("dense_defaults", "Tdense")
    .With(ReturnsFeatures("num_sparse"))
    .Output("ragged_values", "ragged_value_types")
    .Output("ragged_row_splits", "ragged_split_types")
    .Attr("Tdense", TypeListAttr(kFeatureTypes).Min(0))
    .Attr("num_sparse", IntAttr().Min(0))
    .With(Attrs({"sparse_types", "ragged_value_types"}, TypeListAttr(kFeatureTypes).Min(0)))
    .Attr("ragged_split_types", TypeListAttr(IndexTypes()).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseShape<true>);

OP(ParseSingleExample, "Parses the features of one serialised Example. The keys are attributes.")
    .Input("serialized", DT_STRING)
    .Input("dense_defaults", "Tdense")
    .With(ReturnsFeatures("num_sparse"))
    .Attr("num_sparse", IntAttr().Min(0))
    .With(Attrs({"sparse_keys", "dense_keys"}, StringListAttr().Min(0)))
    .With(Attrs({"sparse_types", "Tdense"}, TypeListAttr(kFeatureTypes).Min(0)))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseSingleShape);

OP(DecodeJSONExample, "Converts Examples from JSON to serialised Examples.")
    .Input("json_examples", DT_STRING)
    .Output("binary_examples", DT_STRING)
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
