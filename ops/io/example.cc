// Serialised Examples into tensors.
#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

// The shapes of an example's features, with `batch` in front.
absl::Status FeatureShapes(ShapeContext& c, const PartialShape& batch, int64_t num_sparse,
                           int64_t num_ragged) {
  const auto& dense_shapes = c.attr<std::vector<PartialShape>>("dense_shapes");
  const auto& dense_types = c.attr<std::vector<DataType>>("Tdense");
  if (dense_shapes.size() != dense_types.size()) {
    return InvalidArgument("len(dense_keys) != len(dense_shapes): ", dense_types.size(), " vs. ",
                           dense_shapes.size());
  }
  const int64_t rank = batch.rank_known() ? batch.rank() + 1 : PartialShape::kUnknown;
  int out = 0;
  for (int64_t i = 0; i < num_sparse; ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, PartialShape::Matrix(-1, rank)));
  }
  for (int64_t i = 0; i < num_sparse; ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, PartialShape::Vector()));
  }
  for (int64_t i = 0; i < num_sparse; ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, PartialShape::Vector(rank)));
  }
  for (const PartialShape& shape : dense_shapes) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, batch.Concatenate(shape)));
  }
  for (int64_t i = 0; i < num_ragged; ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, PartialShape::Vector()));
  }
  for (int64_t i = 0; i < num_ragged; ++i) {
    int64_t splits = PartialShape::kUnknown;
    if (batch.rank_known() && batch.rank() == 0) splits = 0;
    if (batch.rank_known() && batch.rank() == 1 && batch.dim(0) >= 0) {
      splits = SaturatedSum(batch.dim(0), 1);
    }
    SLUICE_RETURN_IF_ERROR(c.SetOutput(out++, PartialShape::Vector(splits)));
  }
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

OP(ParseExample, "ParseExampleV2 without ragged features, and with the keys as one input each.")
    .Input("serialized", DT_STRING)
    .Input("names", DT_STRING)
    .Input("sparse_keys", "Nsparse*string")
    .Input("dense_keys", "Ndense*string")
    .Input("dense_defaults", "Tdense")
    .Output("sparse_indices", "Nsparse*int64")
    .Output("sparse_values", "sparse_types")
    .Output("sparse_shapes", "Nsparse*int64")
    .Output("dense_values", "Tdense")
    .Attr("Nsparse", IntAttr().Min(0))
    .Attr("Ndense", IntAttr().Min(0))
    .Attr("sparse_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("Tdense", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseShape<false>);

OP(ParseExampleV2,
   "Features of serialised Examples as tensors. Dense ones have a shape and a default; sparse ones "
   "become (indices, values, shape); ragged ones values and row splits. A scalar is one example, "
   "without the first dimension.")
    .Input("serialized", DT_STRING)
    .Input("names", DT_STRING)
    .Input("sparse_keys", DT_STRING)
    .Input("dense_keys", DT_STRING)
    .Input("ragged_keys", DT_STRING)
    .Input("dense_defaults", "Tdense")
    .Output("sparse_indices", "num_sparse*int64")
    .Output("sparse_values", "sparse_types")
    .Output("sparse_shapes", "num_sparse*int64")
    .Output("dense_values", "Tdense")
    .Output("ragged_values", "ragged_value_types")
    .Output("ragged_row_splits", "ragged_split_types")
    .Attr("Tdense", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("num_sparse", IntAttr().Min(0))
    .Attr("sparse_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("ragged_value_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("ragged_split_types", TypeListAttr(IndexTypes()).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseShape<true>);

OP(ParseSingleExample, "Features of one serialised Example as tensors; keys are attributes.")
    .Input("serialized", DT_STRING)
    .Input("dense_defaults", "Tdense")
    .Output("sparse_indices", "num_sparse*int64")
    .Output("sparse_values", "sparse_types")
    .Output("sparse_shapes", "num_sparse*int64")
    .Output("dense_values", "Tdense")
    .Attr("num_sparse", IntAttr().Min(0))
    .Attr("sparse_keys", StringListAttr().Min(0))
    .Attr("dense_keys", StringListAttr().Min(0))
    .Attr("sparse_types", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("Tdense", TypeListAttr({DT_FLOAT, DT_INT64, DT_STRING}).Min(0))
    .Attr("dense_shapes", ShapeListAttr().Min(0))
    .Shape(ParseSingleShape);

OP(DecodeJSONExample, "Examples in JSON as serialised Examples.")
    .Input("json_examples", DT_STRING)
    .Output("binary_examples", DT_STRING)
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
