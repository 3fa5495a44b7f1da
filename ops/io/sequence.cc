// Ops that parse serialised SequenceExamples: features of their context, and lists that have
// features for each step.
#include "graph/tensor/sizes.h"
#include "ops/io/feature_shapes.h"
#include "ops/op.h"

namespace sluice {
namespace {

AttrDef Types() { return TypeListAttr(kFeatureTypes, {}).Min(0); }
AttrDef SplitTypes() { return TypeListAttr(IndexTypes(), {}).Min(0); }
AttrDef Shapes() { return ShapeListAttr({}).Min(0); }
AttrDef Count() { return IntAttr(0).Min(0); }

size_t NumTypes(const ShapeContext& c, const char* attr) {
  return c.has_attr(attr) ? c.attr<std::vector<DataType>>(attr).size() : 0;
}

// Sets the output shapes for examples of shape `batch`. If `has_lengths` is true, the lengths of
// dense lists are outputs too.
absl::Status SequenceShape(ShapeContext& c, const PartialShape& batch, bool has_lengths) {
  const auto& context_shapes = c.attr<std::vector<PartialShape>>("context_dense_shapes");
  const auto& list_shapes = c.attr<std::vector<PartialShape>>("feature_list_dense_shapes");
  SLUICE_INVALID_IF(context_shapes.size() != NumTypes(c, "Tcontext_dense"),
                    "len(context_dense_keys) != len(context_dense_shapes)");
  SLUICE_INVALID_IF(list_shapes.size() != NumTypes(c, "feature_list_dense_types"),
                    "len(feature_list_dense_keys) != len(feature_list_dense_shapes)");
  const int64_t rank = batch.rank_known() ? batch.rank() : PartialShape::kUnknown;
  const auto plus = [rank](int64_t n) { return rank < 0 ? PartialShape::kUnknown : rank + n; };
  const PartialShape splits = rank == 1 && batch.dim(0) >= 0
                                  ? PartialShape::Vector(SaturatedSum(batch.dim(0), 1))
                                  : PartialShape::Vector();
  OutputShapes out(c);
  out.AddSparse(NumTypes(c, "context_sparse_types"), plus(1));
  // As in the kernels, an unknown rank stands for a scalar.
  const auto fixed = [](const PartialShape& shape) {
    return shape.rank_known() ? shape : PartialShape::Scalar();
  };
  for (const PartialShape& shape : context_shapes) out.Add(1, batch.Concatenate(fixed(shape)));
  out.Add(NumTypes(c, "context_ragged_value_types"), PartialShape::Vector());
  out.Add(NumTypes(c, "context_ragged_split_types"), splits);
  out.AddSparse(NumTypes(c, "feature_list_sparse_types"), plus(2));
  for (const PartialShape& shape : list_shapes) {
    out.Add(1, batch.Concatenate(PartialShape::Vector()).Concatenate(fixed(shape)));
  }
  if (has_lengths) out.Add(list_shapes.size(), batch);
  out.Add(NumTypes(c, "feature_list_ragged_value_types"), PartialShape::Vector());
  out.Add(NumTypes(c, "feature_list_ragged_split_types"), splits);
  out.Add(NumTypes(c, "feature_list_ragged_split_types"), PartialShape::Vector());
  return absl::OkStatus();
}

void ReturnsContext(OpDefBuilder& op) {
  op.Output("context_sparse_indices", "Ncontext_sparse*int64")
      .Output("context_sparse_values", "context_sparse_types")
      .Output("context_sparse_shapes", "Ncontext_sparse*int64")
      .Output("context_dense_values", "Tcontext_dense");
}

void ReturnsLists(OpDefBuilder& op) {
  op.Output("feature_list_sparse_indices", "Nfeature_list_sparse*int64")
      .Output("feature_list_sparse_values", "feature_list_sparse_types")
      .Output("feature_list_sparse_shapes", "Nfeature_list_sparse*int64")
      .Output("feature_list_dense_values", "feature_list_dense_types");
}

void CountsTypesAndShapes(OpDefBuilder& op) {
  op.With(
        Attrs({"Ncontext_sparse", "Ncontext_dense", "Nfeature_list_sparse", "Nfeature_list_dense"},
              Count()))
      .With(Attrs({"context_sparse_types", "Tcontext_dense", "feature_list_dense_types"}, Types()))
      .Attr("context_dense_shapes", Shapes())
      .Attr("feature_list_sparse_types", Types())
      .Attr("feature_list_dense_shapes", Shapes());
}

OP(ParseSequenceExample,
   "Parses as ParseSequenceExampleV2 does, without ragged features. The keys are attributes.")
    .With(Inputs({"serialized", "debug_name"}, DT_STRING))
    .Input("context_dense_defaults", "Tcontext_dense")
    .With(ReturnsContext)
    .With(ReturnsLists)
    .Output("feature_list_dense_lengths", "Nfeature_list_dense*int64")
    .With(Attrs({"feature_list_dense_missing_assumed_empty", "context_sparse_keys",
                 "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys"},
                StringListAttr().Min(0)))
    .With(CountsTypesAndShapes)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRank(0, 1));
      return SequenceShape(c, batch, true);
    });

OP(ParseSequenceExampleV2,
   "Parses serialised SequenceExamples. Context features are parsed as by ParseExampleV2. Lists of "
   "features have an additional dimension, the steps. Dense lists are padded with zeros to the "
   "longest one, and their lengths are an output. Ragged lists have splits between examples and "
   "between steps. A scalar is a single example, whose outputs lack the first dimension.")
    .With(Inputs({"serialized", "debug_name", "context_sparse_keys", "context_dense_keys",
                  "context_ragged_keys", "feature_list_sparse_keys", "feature_list_dense_keys",
                  "feature_list_ragged_keys"},
                 DT_STRING))
    .Input("feature_list_dense_missing_assumed_empty", DT_BOOL)
    .Input("context_dense_defaults", "Tcontext_dense")
    .With(ReturnsContext)
    .Output("context_ragged_values", "context_ragged_value_types")
    .Output("context_ragged_row_splits", "context_ragged_split_types")
    .With(ReturnsLists)
    .Output("feature_list_dense_lengths", "Nfeature_list_dense*int64")
    .Output("feature_list_ragged_values", "feature_list_ragged_value_types")
    .Output("feature_list_ragged_outer_splits", "feature_list_ragged_split_types")
    .Output("feature_list_ragged_inner_splits", "feature_list_ragged_split_types")
    .Attr("Ncontext_sparse", Count())
    .With(Attrs({"Tcontext_dense", "context_sparse_types", "context_ragged_value_types"}, Types()))
    .Attr("context_ragged_split_types", SplitTypes())
    .Attr("context_dense_shapes", Shapes())
    .With(Attrs({"Nfeature_list_sparse", "Nfeature_list_dense"}, Count()))
    .With(Attrs({"feature_list_dense_types", "feature_list_sparse_types",
                 "feature_list_ragged_value_types"},
                Types()))
    .Attr("feature_list_ragged_split_types", SplitTypes())
    .Attr("feature_list_dense_shapes", Shapes())
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape batch, c.WithRankAtMost(0, 1));
      return SequenceShape(c, batch, true);
    });

OP(ParseSingleSequenceExample,
   "Parses one serialised SequenceExample, with an input per key. Dense lists are not padded.")
    .With(Inputs({"serialized", "feature_list_dense_missing_assumed_empty"}, DT_STRING))
    .Input("context_sparse_keys", "Ncontext_sparse*string")
    .Input("context_dense_keys", "Ncontext_dense*string")
    .Input("feature_list_sparse_keys", "Nfeature_list_sparse*string")
    .Input("feature_list_dense_keys", "Nfeature_list_dense*string")
    .Input("context_dense_defaults", "Tcontext_dense")
    .Input("debug_name", DT_STRING)
    .With(ReturnsContext)
    .With(ReturnsLists)
    .With(CountsTypesAndShapes)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      return SequenceShape(c, PartialShape::Scalar(), false);
    });

}  // namespace
}  // namespace sluice
