// Ops that convert ragged tensors to dense and sparse tensors, and to variants and back.
#include "ops/op.h"
#include "ops/ragged/row_partition.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/ragged/convert_builders.h"
#include "ops/reduce/scan_builders.h"
#endif

namespace sluice {
namespace {

absl::Status ToTensorShape(ShapeContext& c) {
  const auto [first, last] = c.InputRange("row_partition_tensors");
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<RowPartition> partitions,
      RowPartitionsOf(c.attr<std::vector<std::string>>("row_partition_types"), last - first));
  for (int i = first; i < last; ++i) {
    const bool is_size = partitions[static_cast<size_t>(i - first)] == RowPartition::kFirstDimSize;
    if (!c.input(i).rank_known() || c.input(i).rank() == (is_size ? 0 : 1)) continue;
    return InvalidArgument(is_size ? "FIRST_DIM_SIZE must be a scalar."
                                   : "Row partition must be a vector.");
  }
  PartialShape wanted;
  const PartialShape& shape = c.input(0);
  if (shape.rank_known() && shape.rank() > 0) {
    SLUICE_ASSIGN_OR_RETURN(wanted, c.InputAsShape(0));
  }
  SLUICE_ASSIGN_OR_RETURN(const PartialShape out,
                          DenseShapeOf(RaggedRankOf(partitions), wanted, c.input(1), c.input(2)));
  return c.SetOutput(0, out);
}

absl::Status ToSparseShape(ShapeContext& c) {
  const auto [first, last] = c.InputRange("rt_nested_splits");
  SLUICE_ASSIGN_OR_RETURN(const PartialShape values, c.WithRankAtLeast(last, 1));
  for (int i = first; i < last; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  const int64_t rank = values.rank_known() ? values.rank() + (last - first) : -1;
  int64_t count = values.rank_known() ? 1 : -1;
  for (int i = 0; values.rank_known() && i < values.rank(); ++i) {
    count = count < 0 || values.dim(i) < 0 ? -1 : MultiplyWithoutOverflow(count, values.dim(i));
  }
  c.SetOutput(0, {count, rank}).IgnoreError();
  c.SetOutput(1, {count}).IgnoreError();
  return c.SetOutput(2, {rank});
}

absl::Status ToVariantShape(ShapeContext& c) {
  const auto [first, last] = c.InputRange("rt_nested_splits");
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(last, 1).status());
  for (int i = first; i < last; ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
  if (!c.attr<bool>("batched_input")) return c.SetOutput(0, PartialShape::Scalar());
  SLUICE_INVALID_IF(first == last,
                    "ragged_rank=0 is not currently supported when batched_input=true.");
  const PartialShape& splits = c.input(0);
  const int64_t rows = splits.rank_known() && splits.dim(0) >= 0 ? splits.dim(0) - 1 : -1;
  SLUICE_INVALID_IF(splits.rank_known() && splits.dim(0) == 0,
                    "Negative dimension size caused by subtracting 1 from 0");
  return c.SetOutput(0, {rows});
}

absl::Status FromVariantShape(ShapeContext& c) {
  const int64_t in = c.attr<int64_t>("input_ragged_rank");
  const int64_t out = c.attr<int64_t>("output_ragged_rank");
  if (in >= 0 && c.input(0).rank_known()) {
    SLUICE_RETURN_IF_ERROR(c.WithRank(0, static_cast<int>(out - in)).status());
  }
  for (int i = 0; i < out; ++i) c.SetOutput(i, {-1}).IgnoreError();
  return c.SetOutput(static_cast<int>(out), PartialShape::UnknownRank());
}

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds the gradient of RaggedTensorToTensor. Converts the numbers of the values by the same op. The
// result has the shape of the output, and says from which value each element comes (-1 for the
// default value). By it, the gradient's elements are distributed among the values and the default
// value.
void ToTensorGradient(Backprop& b) {
  Graph& g = b.graph();
  Output values = b.Value("values"), fallback = b.Value("default_value"), grad = b.Of("result");
  const auto types = b.attr<std::vector<std::string>>("row_partition_types");
  const int64_t ragged_rank =
      static_cast<int64_t>(types.size()) - (types[0] == "FIRST_DIM_SIZE" ? 1 : 0);
  Output values_shape = ShapeNode(values);
  Output count = Reshape(PartOf(values_shape, 0, 1), std::vector<int64_t>{});
  Output numbers = Range(IndexScalar(g, 0), count, IndexScalar(g, 1));
  Output places =
      RaggedTensorToTensor(PartOf(ShapeNode(grad), 0, 1 + ragged_rank), numbers, IndexScalar(g, -1),
                           b.Values("row_partition_tensors"), types);
  places = Reshape(places, std::vector<int64_t>{-1});
  Output elements_shape =
      ConcatV2({ShapeNode(places), PartOf(values_shape, 1, kToTheEnd)}, IndexScalar(g, 0));
  Output elements = Reshape(grad, elements_shape);
  Output is_value = NotEqual(places, IndexScalar(g, -1));
  const auto chosen = [&](Output from, Output mask) {
    Output rows = Reshape(Where(mask), std::vector<int64_t>{-1});
    return GatherV2(from, rows, IndexScalar(g, 0));
  };
  b.Into("values",
         IndexedSlices{chosen(elements, is_value), chosen(places, is_value), values_shape});
  // Sums over the dimensions along which the default value was broadcast, including its leading
  // dimensions of size 1.
  Output own = chosen(elements, LogicalNot(is_value));
  Output ones = Cast(Equal(ShapeNode(fallback), IndexScalar(g, 1)), DT_INT32);
  Output leading = ReduceSum(Cumprod(ones, IndexScalar(g, 0)));
  Output rank = RankNode(fallback) - leading;
  Output axes = Range(IndexScalar(g, 0), RankNode(own) - rank, IndexScalar(g, 1));
  b.Into("default_value", Reshape(Sum(own, axes), ShapeNode(fallback)));
}
#endif

OP(RaggedTensorFromVariant,
   "Returns the ragged tensor in a variant, or stacks the ragged tensors of a tensor of variants.")
    .Input("encoded_ragged", DT_VARIANT)
    .Output("output_nested_splits", "output_ragged_rank*Tsplits")
    .Output("output_dense_values", "Tvalues")
    .Attr("input_ragged_rank", IntAttr().Min(-1))
    .Attr("output_ragged_rank", IntAttr().Min(0))
    .Attr("Tvalues", TypeAttr())
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(FromVariantShape) GRADIENT([](Backprop& b) {
      const PartialShape& encoded = b.In(0).shape();
      if (encoded.rank_known() && encoded.rank() > 1) {
        return b.Fail(
            InvalidArgument("expected a scalar or a vector of variants for the gradient of "
                            "RaggedTensorFromVariant, got rank ",
                            encoded.rank()));
      }
      const bool is_batch =
          encoded.rank_known() ? encoded.rank() == 1 : b.attr<int64_t>("output_ragged_rank") > 0;
      b.Into("encoded_ragged", RaggedTensorToVariant(b.Values("output_nested_splits"),
                                                     b.Of("output_dense_values"), is_batch));
    });

OP(RaggedTensorToSparse, "Converts a ragged tensor to a sparse one.")
    .Input("rt_nested_splits", "RAGGED_RANK*Tsplits")
    .Input("rt_dense_values", "T")
    .Output("sparse_indices", DT_INT64)
    .Output("sparse_values", "T")
    .Output("sparse_dense_shape", DT_INT64)
    .Attr("RAGGED_RANK", IntAttr().Min(1))
    .Attr("T", TypeAttr())
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(ToSparseShape) GRADIENT([](Backprop& b) {
      b.Into("rt_dense_values",
             Reshape(b.Of("sparse_values"), ShapeNode(b.Value("rt_dense_values"))));
    });

OP(RaggedTensorToTensor,
   "Converts a ragged tensor to a dense one. Rows are cut off or padded with default_value to the "
   "sizes in `shape`. -1 means the length of the longest row. row_partition_types are "
   "FIRST_DIM_SIZE, VALUE_ROWIDS and ROW_SPLITS.")
    .Input("shape", "Tshape")
    .Input("values", "T")
    .Input("default_value", "T")
    .Input("row_partition_tensors", "num_row_partition_tensors*Tindex")
    .Output("result", "T")
    .Attr("T", TypeAttr())
    .Attr("Tindex", TypeAttr(IndexTypes()))
    .Attr("Tshape", TypeAttr(IndexTypes()))
    .Attr("num_row_partition_tensors", IntAttr().Min(1))
    .Attr("row_partition_types", StringListAttr())
    .Shape(ToTensorShape) GRADIENT(ToTensorGradient);

OP(RaggedTensorToVariant,
   "Converts a ragged tensor to a variant. With batched_input, converts each row to a variant.")
    .Input("rt_nested_splits", "RAGGED_RANK*Tsplits")
    .Input("rt_dense_values", "Tvalues")
    .Output("encoded_ragged", DT_VARIANT)
    .Attr("RAGGED_RANK", IntAttr().Min(0))
    .Attr("Tvalues", TypeAttr())
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Attr("batched_input", BoolAttr())
    .Shape(ToVariantShape) GRADIENT([](Backprop& b) {
      const OutputList splits = b.Values("rt_nested_splits");
      Output values = b.Value("rt_dense_values");
      Output first = splits.empty() ? IndexScalar(b.graph(), 0) : splits[0];
      b.Into("rt_dense_values",
             RaggedTensorToVariantGradient(b.Of("encoded_ragged"), first, ShapeNode(values),
                                           BaseType(values.dtype())));
    });

OP(RaggedTensorToVariantGradient,
   "Computes the gradient of RaggedTensorToVariant: the values of the ragged tensors in the "
   "variants, in the shape of the values.")
    .Input("encoded_ragged_grad", DT_VARIANT)
    .Input("row_splits", "Tsplits")
    .Input("dense_values_shape", DT_INT32)
    .Output("dense_values_grad", "Tvalues")
    .Attr("Tvalues", TypeAttr())
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, c.InputAsShape(2));
      SLUICE_RETURN_IF_ERROR(c.WithRankAtMost(1, 1).status());
      return c.SetOutput(0, shape);
    });

}  // namespace
}  // namespace sluice
