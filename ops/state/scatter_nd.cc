// Updates of slices of a variable: the last dimension of `indices` is a position in the variable's
// first dimensions, and updates[i..., :] takes part in an operation with what is there.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status CheckNd(ShapeContext& c, const PartialShape& var) {
  const PartialShape& indices = c.input(1);
  const PartialShape& updates = c.input(2);
  if (!var.rank_known() || !indices.rank_known() || !updates.rank_known()) return absl::OkStatus();
  if (indices.rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  const int batch = indices.rank() > 1 ? indices.rank() - 1 : 1;
  const int64_t depth = indices.rank() > 1 ? indices.dim(indices.rank() - 1) : 1;
  PartialShape expected(indices.dims().subspan(0, batch));
  if (depth < 0) return absl::OkStatus();
  if (depth > var.rank()) {
    return InvalidArgument("Dimensions [", depth, ",", var.rank(),
                           ") of input[shape=", var.ToString(), "] must match dimensions [", depth,
                           ",", updates.rank(), ") of updates[shape=", updates.ToString(), "]");
  }
  expected = expected.Concatenate(PartialShape(var.dims().subspan(depth)));
  return updates.MergeWith(expected).status();
}

absl::Status ScatterNdShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckNd(c, c.input(0)));
  return c.SetOutput(0, c.input(0));
}

absl::Status ResourceScatterNdShape(ShapeContext& c) {
  const HandleData* handle = c.InputHandle(0);
  if (handle == nullptr) return absl::OkStatus();
  const DataType dtype = c.attr<DataType>("T");
  if (handle->dtype != DT_INVALID && handle->dtype != dtype) {
    return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                           DataTypeName(handle->dtype), " got ", DataTypeName(dtype));
  }
  return CheckNd(c, handle->shape);
}

#define SCATTER_ND(name, doc, types, locking)     \
  OP(name, doc)                                   \
      .RefInput("ref", "T")                       \
      .Input("indices", "Tindices")               \
      .Input("updates", "T")                      \
      .RefOutput("output_ref", "T")               \
      .Attr("T", TypeAttr(types))                 \
      .Attr("Tindices", TypeAttr(IndexTypes()))   \
      .Attr("use_locking", BoolAttr(locking))     \
      .Attr("bad_indices_policy", StringAttr("")) \
      .Shape(ScatterNdShape)

SCATTER_ND(ScatterNdAdd, "ref[indices] += updates.", NumberTypes(), false).NotDifferentiable();
SCATTER_ND(ScatterNdMax, "ref[indices] = max(ref[indices], updates).", NumberTypes(), false);
SCATTER_ND(ScatterNdMin, "ref[indices] = min(ref[indices], updates).", NumberTypes(), false);
SCATTER_ND(ScatterNdSub, "ref[indices] -= updates.", NumberTypes(), false).NotDifferentiable();
SCATTER_ND(ScatterNdUpdate, "ref[indices] = updates.", TypeSet(), true).NotDifferentiable();
#undef SCATTER_ND

#define RESOURCE_SCATTER_ND(name, doc)            \
  OP(name, doc)                                   \
      .Input("ref", DT_RESOURCE)                  \
      .Input("indices", "Tindices")               \
      .Input("updates", "T")                      \
      .Attr("T", TypeAttr())                      \
      .Attr("Tindices", TypeAttr(IndexTypes()))   \
      .Attr("use_locking", BoolAttr(true))        \
      .Attr("bad_indices_policy", StringAttr("")) \
      .Stateful()                                 \
      .Shape(ResourceScatterNdShape)

RESOURCE_SCATTER_ND(ResourceScatterNdAdd, "variable[indices] += updates.");
RESOURCE_SCATTER_ND(ResourceScatterNdMax, "variable[indices] = max(variable[indices], updates).");
RESOURCE_SCATTER_ND(ResourceScatterNdMin, "variable[indices] = min(variable[indices], updates).");
RESOURCE_SCATTER_ND(ResourceScatterNdSub, "variable[indices] -= updates.");
RESOURCE_SCATTER_ND(ResourceScatterNdUpdate, "variable[indices] = updates.");
#undef RESOURCE_SCATTER_ND

}  // namespace
}  // namespace sluice
