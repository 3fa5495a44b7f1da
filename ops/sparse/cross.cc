// Crosses of features: for each row of a batch, every combination of one feature of each input, as
// one string or one hash.
#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

constexpr TypeSet kFeatures{DT_INT64, DT_STRING};

absl::Status SparseShape(ShapeContext& c) {
  c.SetOutput(0, {-1, 2}).IgnoreError();
  c.SetOutput(1, {-1}).IgnoreError();
  return c.SetOutput(2, {2});
}

absl::Status RaggedShape(ShapeContext& c) {
  const auto& values = c.attr<std::vector<DataType>>("ragged_values_types");
  const auto& splits = c.attr<std::vector<DataType>>("ragged_splits_types");
  const auto& sparse = c.attr<std::vector<DataType>>("sparse_values_types");
  if (values.size() != splits.size()) {
    return InvalidArgument("ragged_values and ragged_splits must be equal in length, got ",
                           values.size(), " and ", splits.size());
  }
  if (static_cast<int64_t>(sparse.size()) != c.attr<int64_t>("Nsparse")) {
    return InvalidArgument("sparse indices and values must be equal in length, got ",
                           c.attr<int64_t>("Nsparse"), " and ", sparse.size());
  }
  // The number of rows, where an input tells it.
  int64_t rows = -1;
  const auto tell = [&](int64_t known) -> absl::Status {
    SLUICE_ASSIGN_OR_RETURN(rows, MergeDim(rows, known));
    return absl::OkStatus();
  };
  const auto [first_splits, last_splits] = c.InputRange("ragged_row_splits");
  for (int i = first_splits; i < last_splits; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(i, 1));
    SLUICE_RETURN_IF_ERROR(tell(s.dim(0) <= 0 ? -1 : s.dim(0) - 1));
  }
  const auto [first_dense, last_dense] = c.InputRange("dense_inputs");
  for (int i = first_dense; i < last_dense; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape s, c.WithRank(i, 2));
    SLUICE_RETURN_IF_ERROR(tell(s.dim(0)));
  }
  c.SetOutput(0, {-1}).IgnoreError();
  return c.SetOutput(1, {rows < 0 ? -1 : SaturatedSum(rows, 1)});
}

OP(RaggedCross,
   "Crosses of ragged, sparse and dense inputs in the order that input_order (R, S, D) says: "
   "joined by _X_, or, hashed_output, fingerprints modulo num_buckets.")
    .Input("ragged_values", "ragged_values_types")
    .Input("ragged_row_splits", "ragged_splits_types")
    .Input("sparse_indices", "Nsparse*int64")
    .Input("sparse_values", "sparse_values_types")
    .Input("sparse_shape", "Nsparse*int64")
    .Input("dense_inputs", "dense_types")
    .Output("output_values", "out_values_type")
    .Output("output_row_splits", "out_row_splits_type")
    .Attr("Nsparse", IntAttr().Min(0))
    .Attr("input_order", StringAttr())
    .Attr("hashed_output", BoolAttr())
    .Attr("num_buckets", IntAttr().Min(0))
    .Attr("hash_key", IntAttr())
    .Attr("ragged_values_types", TypeListAttr(kFeatures).Min(0))
    .Attr("ragged_splits_types", TypeListAttr(IndexTypes()).Min(0))
    .Attr("sparse_values_types", TypeListAttr(kFeatures).Min(0))
    .Attr("dense_types", TypeListAttr(kFeatures).Min(0))
    .Attr("out_values_type", TypeAttr(kFeatures))
    .Attr("out_row_splits_type", TypeAttr(IndexTypes()))
    .Shape(RaggedShape);

OP(SparseCross,
   "Crosses of sparse and dense inputs, the sparse ones first: joined by _X_, or, where out_type "
   "is int64, fingerprints modulo num_buckets.")
    .Input("indices", "N*int64")
    .Input("values", "sparse_types")
    .Input("shapes", "N*int64")
    .Input("dense_inputs", "dense_types")
    .Output("output_indices", DT_INT64)
    .Output("output_values", "out_type")
    .Output("output_shape", DT_INT64)
    .Attr("N", IntAttr().Min(0))
    .Attr("hashed_output", BoolAttr())
    .Attr("num_buckets", IntAttr().Min(0))
    .Attr("hash_key", IntAttr())
    .Attr("sparse_types", TypeListAttr(kFeatures).Min(0))
    .Attr("dense_types", TypeListAttr(kFeatures).Min(0))
    .Attr("out_type", TypeAttr(kFeatures))
    .Attr("internal_type", TypeAttr(kFeatures))
    .Shape(SparseShape);

OP(SparseCrossHashed,
   "SparseCross to fingerprints modulo num_buckets; strong_hash: keyed with salt, so that nobody "
   "who does not know it finds features that fall together.")
    .Input("indices", "N*int64")
    .Input("values", "sparse_types")
    .Input("shapes", "N*int64")
    .Input("dense_inputs", "dense_types")
    .Input("num_buckets", DT_INT64)
    .Input("strong_hash", DT_BOOL)
    .Input("salt", DT_INT64)
    .Output("output_indices", DT_INT64)
    .Output("output_values", DT_INT64)
    .Output("output_shape", DT_INT64)
    .Attr("N", IntAttr().Min(0))
    .Attr("sparse_types", TypeListAttr(kFeatures).Min(0))
    .Attr("dense_types", TypeListAttr(kFeatures).Min(0))
    .Shape(SparseShape);

OP(SparseCrossV2, "SparseCross to strings, joined by sep.")
    .Input("indices", "N*int64")
    .Input("values", "sparse_types")
    .Input("shapes", "N*int64")
    .Input("dense_inputs", "dense_types")
    .Input("sep", DT_STRING)
    .Output("output_indices", DT_INT64)
    .Output("output_values", DT_STRING)
    .Output("output_shape", DT_INT64)
    .Attr("N", IntAttr().Min(0))
    .Attr("sparse_types", TypeListAttr(kFeatures).Min(0))
    .Attr("dense_types", TypeListAttr(kFeatures).Min(0))
    .Shape(SparseShape);

}  // namespace
}  // namespace sluice
