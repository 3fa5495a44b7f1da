// Ops for feature crosses. For each row of a batch, they return every combination of one feature
// per input, as a string or a hash.
#include <algorithm>

#include "graph/tensor/sizes.h"
#include "ops/op.h"
#include "ops/sparse/sparse_tensor_shape.h"

namespace sluice {
namespace {

constexpr TypeSet kFeatures{DT_INT64, DT_STRING};

absl::Status SparseShape(ShapeContext& c) { return SetSparse(c, 0, 2); }

// Declares the sparse and the dense inputs.
void CrossInputs(OpDefBuilder& op) {
  op.Input("indices", "N*int64").Input("values", "sparse_types").Input("shapes", "N*int64");
  op.Input("dense_inputs", "dense_types").Attr("N", IntAttr().Min(0));
}
void FeatureTypes(OpDefBuilder& op) {
  op.Attr("sparse_types", TypeListAttr(kFeatures).Min(0));
  op.Attr("dense_types", TypeListAttr(kFeatures).Min(0));
}

absl::Status RaggedShape(ShapeContext& c) {
  const auto& values = c.attr<std::vector<DataType>>("ragged_values_types");
  const auto& splits = c.attr<std::vector<DataType>>("ragged_splits_types");
  const auto& sparse = c.attr<std::vector<DataType>>("sparse_values_types");
  SLUICE_INVALID_IF(values.size() != splits.size(),
                    "ragged_values and ragged_splits must be equal in length, got ", values.size(),
                    " and ", splits.size());
  SLUICE_INVALID_IF(static_cast<int64_t>(sparse.size()) != c.attr<int64_t>("Nsparse"),
                    "sparse indices and values must be equal in length, got ",
                    c.attr<int64_t>("Nsparse"), " and ", sparse.size());
  // The number of rows, as soon as it is known for an input.
  int64_t rows = -1;
  const auto tell = [&](int64_t known) -> absl::Status {
    SLUICE_INVALID_IF(rows >= 0 && known >= 0 && rows != known,
                      "inputs must all have the same batch dimension size, got ", rows, " and ",
                      known);
    rows = std::max(rows, known);
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
   "Crosses ragged, sparse and dense inputs, whose order is given by the letters R, S and D of "
   "input_order. Returns strings joined by _X_, or fingerprints modulo num_buckets if "
   "hashed_output.")
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
   "Crosses sparse and dense inputs, sparse ones first. Returns strings joined by _X_, or "
   "fingerprints modulo num_buckets if out_type is int64.")
    .With(CrossInputs)
    .With(SparseOutput{"output_", "out_type"})
    .Attr("hashed_output", BoolAttr())
    .Attr("num_buckets", IntAttr().Min(0))
    .Attr("hash_key", IntAttr())
    .With(FeatureTypes)
    .Attr("out_type", TypeAttr(kFeatures))
    .Attr("internal_type", TypeAttr(kFeatures))
    .Shape(SparseShape);

OP(SparseCrossHashed,
   "Crosses inputs to fingerprints modulo num_buckets. With strong_hash, the hash is keyed with "
   "salt, so that collisions cannot be found without it.")
    .With(CrossInputs)
    .Input("num_buckets", DT_INT64)
    .Input("strong_hash", DT_BOOL)
    .Input("salt", DT_INT64)
    .With(SparseOutput{"output_", "int64"})
    .With(FeatureTypes)
    .Shape(SparseShape);

OP(SparseCrossV2, "Crosses inputs to strings joined by sep.")
    .With(CrossInputs)
    .Input("sep", DT_STRING)
    .With(SparseOutput{"output_", "string"})
    .With(FeatureTypes)
    .Shape(SparseShape);

}  // namespace
}  // namespace sluice
