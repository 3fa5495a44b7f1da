// Ops that read parts of a variable.
#include "ops/op.h"
#include "ops/state/variable_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/indexing/scatter_nd_builders.h"
#include "ops/state/resource_variable_builders.h"
#endif

namespace sluice {
namespace {

absl::Status GatherShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape params,
                          VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
  const PartialShape& indices = c.input(1);
  if (!params.rank_known() || !indices.rank_known()) {
    return c.SetOutput(0, PartialShape::UnknownRank());
  }
  SLUICE_INVALID_IF(params.rank() < 1, "Shape must be at least rank 1 but is rank 0");
  int64_t batch = c.attr<int64_t>("batch_dims");
  if (batch < 0) batch += indices.rank();
  SLUICE_INVALID_IF(batch < 0 || batch > indices.rank() || batch >= params.rank(), "batch_dims ",
                    c.attr<int64_t>("batch_dims"), " does not fit params of shape ",
                    params.ToString(), " and indices of shape ", indices.ToString());
  PartialShape out(params.dims().subspan(0, batch));
  SLUICE_RETURN_IF_ERROR(out.MergeWith(PartialShape(indices.dims().subspan(0, batch))).status());
  out = out.Concatenate(PartialShape(indices.dims().subspan(batch)))
            .Concatenate(PartialShape(params.dims().subspan(batch + 1)));
  return c.SetOutput(0, std::move(out));
}

absl::Status GatherNdShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape params,
                          VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
  SLUICE_ASSIGN_OR_RETURN(const PartialShape indices, c.WithRankAtLeast(1, 1));
  if (!params.rank_known() || !indices.rank_known()) {
    return c.SetOutput(0, PartialShape::UnknownRank());
  }
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return c.SetOutput(0, PartialShape::UnknownRank());
  SLUICE_INVALID_IF(depth > params.rank(),
                    "indices.shape[-1] must be <= params.rank, but saw indices shape: ",
                    indices.ToString(), " and params shape: ", params.ToString());
  const PartialShape batch(indices.dims().subspan(0, indices.rank() - 1));
  return c.SetOutput(0, batch.Concatenate(PartialShape(params.dims().subspan(depth))));
}

OP(ResourceGather,
   "Computes output[b…, i…, :] = variable[b…, indices[b…, i…], :], where b are the first "
   "`batch_dims` dimensions of both.")
    .Input("resource", DT_RESOURCE)
    .Input("indices", "Tindices")
    .Output("output", "dtype")
    .Attr("batch_dims", IntAttr(0))
    .Attr("validate_indices", BoolAttr(true))
    .Attr("dtype", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Stateful()
    .OnVariable(VariableUse::kReads)
    .Repeatable()
    .Shape(GatherShape) GRADIENT([](Backprop& b) {
      // The gradient is sparse, and may repeat rows.
      Output resource = b.Value("resource"), indices = b.Value("indices");
      const HandleData* held = resource.node->output_handle(resource.index);
      const bool is_known = held != nullptr && held->shape.IsFullyDefined();
      Output shape =
          is_known ? Constant(b.graph(),
                              IntegerTensor({held->shape.dims().begin(), held->shape.dims().end()}))
                   : VariableShape(resource);
      Output size = ExpandDims(SizeOf(indices), 0);
      Output values_shape = Concat({size, RowsOf(shape, 1, 0)}, 0);
      Output values = Reshape(b.Of("output"), values_shape);
      b.Into("resource", IndexedSlices{values, Reshape(indices, size), shape});
    });

OP(ResourceGatherNd,
   "Computes output[i…, :] = variable[indices[i…, 0], indices[i…, 1], …, :], where the last "
   "dimension of `indices` is a position in the first dimensions of the variable.")
    .Input("resource", DT_RESOURCE)
    .Input("indices", "Tindices")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("Tindices", TypeAttr(IndexTypes()))
    .Stateful()
    .OnVariable(VariableUse::kReads)
    .Repeatable()
    .Shape(GatherNdShape) GRADIENT([](Backprop& b) {
      Output indices = b.Value("indices");
      Output shape = VariableShape(b.Value("resource"), {.out_type = indices.dtype()});
      if (indices.shape().rank() == 2 && indices.shape().dim(1) == 1) {
        b.Into("resource",
               IndexedSlices{b.Of("output"), Squeeze(indices, {.squeeze_dims = {-1}}), shape});
      } else {
        b.Into("resource", ScatterNd(indices, b.Of("output"), shape));
      }
    });

}  // namespace
}  // namespace sluice
