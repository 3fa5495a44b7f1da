// Ops that gather rows or elements of a tensor by index.
#include <algorithm>

#include "graph/infer/constant_context.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/scatter_nd_builders.h"
#endif

namespace sluice {
namespace {

absl::Status GatherShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape params, c.WithRankAtLeast(0, 1));
  if (!params.rank_known()) return c.SetOutput(0, PartialShape());
  const PartialShape row(params.dims().subspan(1));
  return c.SetOutput(0, c.input(1).Concatenate(row));
}

// Returns params.shape[:axis] + indices.shape[batch:] + params.shape[axis + 1:]. Both ranks must be
// known.
absl::StatusOr<PartialShape> Gathered(const PartialShape& params, const PartialShape& indices,
                                      int64_t axis, int64_t batch) {
  SLUICE_INVALID_IF(batch < -indices.rank() || batch > indices.rank(),
                    "Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(),
                    "], but got ", batch);
  if (batch < 0) batch += indices.rank();
  SLUICE_INVALID_IF(batch > axis, "batch_dims (", batch, ") must be less than or equal to axis (",
                    axis, ")");
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i < batch; ++i) {
    const int64_t rows = params.dim(i), d = rows < 0 ? indices.dim(i) : rows;
    SLUICE_INVALID_IF(indices.dim(i) >= 0 && indices.dim(i) != d, "params.shape[", i, "]: ", d,
                      " should be equal to indices.shape[", i, "]: ", indices.dim(i));
    out.AddDim(d);
  }
  for (int i = static_cast<int>(batch); i < axis; ++i) out.AddDim(params.dim(i));
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(axis) + 1; i < params.rank(); ++i) out.AddDim(params.dim(i));
  return out;
}

// Returns the result shape of a Gather along an unknown axis. Only its rank is known.
PartialShape GatheredAnywhere(const PartialShape& params, const PartialShape& indices,
                              int64_t batch) {
  const bool known = params.rank_known() && indices.rank_known() && batch >= 0;
  const int64_t rank = known ? params.rank() + indices.rank() - 1 - batch : -1;
  return known && rank >= 0 ? PartialShape::UnknownOfRank(static_cast<int>(rank)) : PartialShape();
}

absl::Status GatherV2Shape(ShapeContext& c) {
  const PartialShape& params = c.input(0);
  const PartialShape& indices = c.input(1);
  SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  const std::optional<std::vector<int64_t>> axis_value = c.InputInts(2);
  const bool axis_known = c.InputValue(2).has_value() && axis_value->size() == 1;
  const int64_t batch = c.attr<int64_t>("batch_dims");
  if (!axis_known) {
    SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, 1).status());
    return c.SetOutput(0, GatheredAnywhere(params, indices, batch));
  }
  constexpr int64_t kAboveAnyRank = 1 << 20;
  int64_t axis = std::clamp((*axis_value)[0], -kAboveAnyRank, kAboveAnyRank);
  const int64_t least = axis < 0 ? -axis : axis + 1;
  SLUICE_RETURN_IF_ERROR(c.WithRankAtLeast(0, static_cast<int>(least)).status());
  if (!params.rank_known() || !indices.rank_known()) return c.SetOutput(0, PartialShape());
  if (axis < 0) axis += params.rank();
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, Gathered(params, indices, axis, batch));
  return c.SetOutput(0, std::move(out));
}

absl::Status GatherNdShape(ShapeContext& c) {
  const PartialShape& params = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRankAtLeast(1, 1));
  if (!params.rank_known() || !indices.rank_known()) return c.SetOutput(0, PartialShape());
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return c.SetOutput(0, PartialShape());
  SLUICE_INVALID_IF(depth > params.rank(),
                    "indices.shape[-1] must be <= params.rank, but saw indices shape: ",
                    indices.ToString(), " and params shape: ", params.ToString());
  PartialShape out(indices.dims().first(indices.rank() - 1));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.AddDim(params.dim(i));
  return c.SetOutput(0, std::move(out));
}

#ifndef SLUICE_DEFINITIONS_ONLY

// Computes the shape on the device of `params`, so that a large tensor need not be copied.
Output ShapeOfParams(Output params) {
  ColocateWith colocate(*params.graph(), params, true);
  return ShapeNode(params);
}

Output Size1(Output indices) {
  return ExpandDims(SizeNode(indices), IndexScalar(*indices.graph(), 0));
}

// Sets the gradient of params to IndexedSlices. Their values are the gradient of the output.
void SlicesGradient(Backprop& b, Output params, Output indices) {
  Output shape;
  {
    ColocateWith colocate(b.graph(), params, true);
    shape = ShapeOf(params);
  }
  Output count = ExpandDims(SizeOf(indices), 0);
  Output values_shape = Concat({count, RowsOf(shape, 1, 0)}, 0);
  Output values = Reshape(b.Of(0), values_shape);
  b.Into("params", IndexedSlices{values, Reshape(indices, count), shape});
}

// Converts indices within a batch to indices into params with flattened batch dimensions.
Output FlatBatchIndices(Output params_shape, Output indices, int64_t batch_dims,
                        Output gathered_size) {
  Graph& g = *indices.graph();
  const DataType type = BaseType(indices.dtype());
  Output sizes = type == DT_INT32 ? params_shape : Cast(params_shape, type);
  Output one = IndexScalar(g, 1);
  Output stride = type == DT_INT32 ? gathered_size : Cast(gathered_size, type);
  Output flat = indices;
  for (int64_t d = batch_dims; d > 0; --d) {
    Output size = ElementAt(sizes, d - 1);
    if (d < batch_dims) stride = Mul(stride, ElementAt(sizes, d));
    Output offsets = Mul(Range(IndexScalar(g, 0, type), size, IndexScalar(g, 1, type)), stride);
    Output after = Fill(Pack({Sub(RankNode(indices), IndexScalar(g, d))}), one);
    Output shape = ConcatV2(
        {Fill(IndexVector(g, {d - 1}), one), Pack({ElementAt(params_shape, d - 1)}), after},
        IndexScalar(g, 0));
    flat = AddV2(flat, Reshape(offsets, shape));
  }
  return flat;
}

// Returns the gradient of params if the gathered dimension directly follows the batch dimensions.
Output BatchGatherGradient(Output params_shape, Output values, Output indices, int64_t batch_dims,
                           Output gathered_size) {
  Graph& g = *values.graph();
  Output count = Size1(indices);
  Output result_shape;
  if (batch_dims > 0) {
    Output shape = ShapeNode(values);
    Output outer = PartOf(shape, 0, batch_dims);
    Output inner = PartOf(shape, batch_dims + 1, kToTheEnd);
    Output flat_shape = ConcatV2({IndexVector(g, {-1}), inner}, IndexScalar(g, 0));
    indices = FlatBatchIndices(params_shape, indices, batch_dims, gathered_size);
    gathered_size = Mul(gathered_size, Prod(outer, IndexVector(g, {0})));
    values = Reshape(values, flat_shape);
    result_shape = ConcatV2({outer, flat_shape}, IndexScalar(g, 0));
  }
  Output sum = UnsortedSegmentSum(values, Reshape(indices, count), gathered_size);
  return batch_dims > 0 ? Reshape(sum, result_shape) : sum;
}

// Adds the gradient of a Gather along any axis: moves the axis behind the batch dimensions, sums
// the gradient along it, and moves the axis back.
void GatherAxisGradient(Backprop& b, Output params, Output indices, Output axis, int64_t batch) {
  Graph& g = b.graph();
  Output zero = IndexScalar(g, 0), one = IndexScalar(g, 1);
  Output shape = ShapeOfParams(params);
  if (BaseType(axis.dtype()) != DT_INT32) axis = Cast(axis, DT_INT32);
  Output outer = PartOf(shape, Output(), axis);
  Output inner = PartOf(PartOf(shape, axis, Output()), 1, kToTheEnd);
  // `outer` already contains the batch dimensions.
  Output values_shape = ConcatV2({outer, IndexVector(g, {-1}), inner}, zero);
  Output values_rank = SizeNode(values_shape);
  Output outer_rank = SizeNode(outer);
  Output batch_rank = IndexScalar(g, batch);
  Output batches = Range(zero, batch_rank, one);
  Output between = Range(batch_rank, outer_rank, one);
  Output after = Range(AddV2(outer_rank, one), values_rank, one);
  Output to_front = ConcatV2({batches, Pack({outer_rank}), between, after}, zero);
  Output values = Transpose(Reshape(b.Of(0), values_shape), to_front);
  Output size = StridedSlice(shape, Pack({axis}), Pack({AddV2(axis, one)}), IndexVector(g, {1}),
                             {.shrink_axis_mask = 1});
  Output sum = BatchGatherGradient(shape, values, indices, batch, size);
  Output back = ConcatV2({batches, AddV2(between, one), IndexVector(g, {batch}), after}, zero);
  b.Into("params", Transpose(sum, back));
}

void GatherV2Gradient(Backprop& b) {
  Output indices = b.Value("indices");
  Output axis = b.Value("axis");
  int64_t batch = b.attr<int64_t>("batch_dims");
  if (batch < 0 && !indices.shape().rank_known()) {
    return b.Fail(absl::InvalidArgumentError(StrCat(
        b.op().Describe(), ": the gradient with negative batch_dims needs indices of known rank")));
  }
  if (batch < 0) batch += indices.shape().rank();
  const std::optional<Tensor> value = ConstantValue(axis);
  const bool first_axis = value && (value->dtype() == DT_INT64 ? value->scalar<int64_t>()
                                                               : value->scalar<int32_t>()) == 0;
  if (first_axis && batch == 0) return SlicesGradient(b, b.Value("params"), indices);
  GatherAxisGradient(b, b.Value("params"), indices, axis, batch);
}

// Adds the gradient of GatherNd. Casts int16 indices, because Shape has no int16 output.
void GatherNdGradient(Backprop& b) {
  Output params = b.Value("params"), indices = b.Value("indices");
  if (BaseType(indices.dtype()) == DT_INT16) indices = Cast(indices, DT_INT32);
  Output shape = ShapeNode(params, BaseType(indices.dtype()));
  if (indices.shape().rank() == 2 && indices.shape().dim(1) == 1) {
    b.Into("params", IndexedSlices{b.Of(0), Squeeze(indices, {.squeeze_dims = {-1}}), shape});
  } else {
    const std::string policy = b.attr<std::string>("bad_indices_policy");
    b.Into("params", ScatterNd(indices, b.Of(0), shape, {.bad_indices_policy = policy}));
  }
}

#endif  // SLUICE_DEFINITIONS_ONLY

std::optional<PartialInts> ValueOfGather(ConstantContext& c) {
  const std::optional<PartialInts> data = c.Input(0), indices = c.Input(1);
  if (!data || !indices || data->is_scalar) return std::nullopt;
  PartialInts out{indices->is_scalar, {}};
  for (const std::optional<int64_t>& i : indices->values) {
    if (!i || *i < 0 || *i >= static_cast<int64_t>(data->values.size())) return std::nullopt;
    out.values.push_back(data->values[*i]);
  }
  return out;
}

OP(Gather, "An older form of GatherV2 along the first dimension.")
    .Hidden()
    .Input("params", "Tparams")
    .Input("indices", "Tindices")
    .Output("output", "Tparams")
    .Attr("validate_indices", BoolAttr(true))
    .Attr("Tparams", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .ConstantValue(ValueOfGather)
    .Shape(GatherShape)
        GRADIENT([](Backprop& b) { SlicesGradient(b, b.Value("params"), b.Value("indices")); });

OP(GatherNd,
   "Gathers the elements or slices of `params` at the coordinates in the rows of `indices`. "
   "bad_indices_policy is \"ERROR\" (also \"\" and \"DEFAULT\"), or \"IGNORE\" for zeros.")
    .Input("params", "Tparams")
    .Input("indices", "Tindices")
    .Output("output", "Tparams")
    .Attr("Tparams", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes() | TypeSet{DT_INT16}))
    .Attr("bad_indices_policy", StringAttr(""))
    .Shape(GatherNdShape) GRADIENT(GatherNdGradient);

OP(GatherV2,
   "Gathers the slices of `params` along `axis` at `indices`. The first batch_dims dimensions of "
   "`params` and `indices` belong together.")
    .Input("params", "Tparams")
    .Input("indices", "Tindices")
    .Input("axis", "Taxis")
    .Output("output", "Tparams")
    .Attr("batch_dims", IntAttr(0))
    .Attr("Tparams", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes() | TypeSet{DT_INT16}))
    .Attr("Taxis", TypeAttr(IndexTypes()))
    .ConstantValue(ValueOfGather)
    .Shape(GatherV2Shape) GRADIENT(GatherV2Gradient);

}  // namespace
}  // namespace sluice
