// Updates of rows of a variable: row indices[i...] takes part in an operation with updates[i...,
// :]. Rows may repeat: they are then updated one after the other, in order. A scalar `updates`
// stands for every row.

#include "ops/op.h"

namespace sluice {
namespace {

// updates.shape = indices.shape + var.shape[1:], or a scalar.
absl::Status CheckUpdates(ShapeContext& c, const PartialShape& var) {
  if (!var.rank_known()) return absl::OkStatus();
  if (var.rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  if (c.input(2).rank() == 0) return absl::OkStatus();
  const PartialShape row(var.dims().subspan(1));
  return c.input(2).MergeWith(c.input(1).Concatenate(row)).status();
}

absl::Status ScatterShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckUpdates(c, c.input(0)));
  return c.SetOutput(0, c.input(0));
}

absl::Status ResourceScatterShape(ShapeContext& c) {
  const HandleData* handle = c.InputHandle(0);
  if (handle == nullptr) return absl::OkStatus();
  const DataType dtype = c.attr<DataType>("dtype");
  if (handle->dtype != DT_INVALID && handle->dtype != dtype) {
    return InvalidArgument("Trying to read variable with wrong dtype. Expected ",
                           DataTypeName(handle->dtype), " got ", DataTypeName(dtype));
  }
  return CheckUpdates(c, handle->shape);
}

#define SCATTER(name, doc, types, locking)      \
  OP(name, doc)                                 \
      .RefInput("ref", "T")                     \
      .Input("indices", "Tindices")             \
      .Input("updates", "T")                    \
      .RefOutput("output_ref", "T")             \
      .Attr("T", TypeAttr(types))               \
      .Attr("Tindices", TypeAttr(IndexTypes())) \
      .Attr("use_locking", BoolAttr(locking))   \
      .Shape(ScatterShape)

SCATTER(ScatterAdd, "ref[indices, …] += updates.", NumberTypes(), false).NotDifferentiable();
SCATTER(ScatterDiv, "ref[indices, …] /= updates.", NumberTypes(), false).NotDifferentiable();
SCATTER(ScatterMax, "ref[indices, …] = max(ref[indices, …], updates).",
        TypeSet(FloatTypes() | IndexTypes()), false);
SCATTER(ScatterMin, "ref[indices, …] = min(ref[indices, …], updates).",
        TypeSet(FloatTypes() | IndexTypes()), false);
SCATTER(ScatterMul, "ref[indices, …] *= updates.", NumberTypes(), false).NotDifferentiable();
SCATTER(ScatterSub, "ref[indices, …] -= updates.", NumberTypes(), false).NotDifferentiable();
SCATTER(ScatterUpdate, "ref[indices, …] = updates.", TypeSet(), true);
#undef SCATTER

#define RESOURCE_SCATTER(name, doc, types)      \
  OP(name, doc)                                 \
      .Input("resource", DT_RESOURCE)           \
      .Input("indices", "Tindices")             \
      .Input("updates", "dtype")                \
      .Attr("dtype", TypeAttr(types))           \
      .Attr("Tindices", TypeAttr(IndexTypes())) \
      .Stateful()                               \
      .Shape(ResourceScatterShape)

RESOURCE_SCATTER(ResourceScatterAdd, "variable[indices, …] += updates.", NumberTypes());
RESOURCE_SCATTER(ResourceScatterDiv, "variable[indices, …] /= updates.", NumberTypes());
RESOURCE_SCATTER(ResourceScatterMax, "variable[indices, …] = max(variable[indices, …], updates).",
                 NumberTypes());
RESOURCE_SCATTER(ResourceScatterMin, "variable[indices, …] = min(variable[indices, …], updates).",
                 NumberTypes());
RESOURCE_SCATTER(ResourceScatterMul, "variable[indices, …] *= updates.", NumberTypes());
RESOURCE_SCATTER(ResourceScatterSub, "variable[indices, …] -= updates.", NumberTypes());
RESOURCE_SCATTER(ResourceScatterUpdate, "variable[indices, …] = updates.", TypeSet());
#undef RESOURCE_SCATTER

}  // namespace
}  // namespace sluice
