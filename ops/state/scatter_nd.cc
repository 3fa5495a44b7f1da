// Ops that update slices of a variable. The last dimension of `indices` is a position in the first
// dimensions of the variable, and updates[i..., :] is applied to the slice at this position.
#include "ops/op.h"
#include "ops/state/variable_shape.h"

namespace sluice {
namespace {

absl::Status CheckNd(ShapeContext& c, const PartialShape& var) {
  const PartialShape& indices = c.input(1);
  const PartialShape& updates = c.input(2);
  if (!var.rank_known() || !indices.rank_known() || !updates.rank_known()) return absl::OkStatus();
  SLUICE_INVALID_IF(indices.rank() < 1, "Shape must be at least rank 1 but is rank 0");
  const int batch = indices.rank() > 1 ? indices.rank() - 1 : 1;
  const int64_t depth = indices.rank() > 1 ? indices.dim(indices.rank() - 1) : 1;
  PartialShape expected(indices.dims().subspan(0, batch));
  if (depth < 0) return absl::OkStatus();
  SLUICE_INVALID_IF(depth > var.rank(), "Dimensions [", depth, ",", var.rank(),
                    ") of input[shape=", var.ToString(), "] must match dimensions [", depth, ",",
                    updates.rank(), ") of updates[shape=", updates.ToString(), "]");
  expected = expected.Concatenate(PartialShape(var.dims().subspan(depth)));
  return updates.MergeWith(expected).status();
}

auto ScattersNdToRef(TypeSet types, bool use_locking) {
  return [=](OpDefBuilder& op) {
    op.RefInput("ref", "T")
        .Input("indices", "Tindices")
        .Input("updates", "T")
        .RefOutput("output_ref", "T")
        .Attr("T", TypeAttr(types))
        .Attr("Tindices", TypeAttr(IndexTypes()))
        .Attr("use_locking", BoolAttr(use_locking))
        .Attr("bad_indices_policy", StringAttr(""))
        .Shape([](ShapeContext& c) -> absl::Status {
          SLUICE_RETURN_IF_ERROR(CheckNd(c, c.input(0)));
          return c.SetOutput(0, c.input(0));
        });
  };
}

void ScattersNdToVariable(OpDefBuilder& op) {
  op.Input("ref", DT_RESOURCE)
      .Input("indices", "Tindices")
      .Input("updates", "T")
      .Attr("T", TypeAttr())
      .Attr("Tindices", TypeAttr(IndexTypes()))
      .Attr("use_locking", BoolAttr(true))
      .Attr("bad_indices_policy", StringAttr(""))
      .Stateful()
      .Shape([](ShapeContext& c) -> absl::Status {
        SLUICE_ASSIGN_OR_RETURN(const PartialShape shape,
                                VariableShapeOf(c, 0, c.attr<DataType>("T")));
        return CheckNd(c, shape);
      });
}

OP(ScatterNdAdd, "Computes ref[indices] += updates.")
    .With(ScattersNdToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterNdMax, "Computes ref[indices] = max(ref[indices], updates).")
    .With(ScattersNdToRef(NumberTypes(), false));

OP(ScatterNdMin, "Computes ref[indices] = min(ref[indices], updates).")
    .With(ScattersNdToRef(NumberTypes(), false));

OP(ScatterNdSub, "Computes ref[indices] -= updates.")
    .With(ScattersNdToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterNdUpdate, "Computes ref[indices] = updates.")
    .With(ScattersNdToRef(TypeSet(), true))
    .NotDifferentiable();

OP(ResourceScatterNdAdd, "Computes variable[indices] += updates.").With(ScattersNdToVariable);

OP(ResourceScatterNdMax, "Computes variable[indices] = max(variable[indices], updates).")
    .With(ScattersNdToVariable);

OP(ResourceScatterNdMin, "Computes variable[indices] = min(variable[indices], updates).")
    .With(ScattersNdToVariable);

OP(ResourceScatterNdSub, "Computes variable[indices] -= updates.").With(ScattersNdToVariable);

OP(ResourceScatterNdUpdate, "Computes variable[indices] = updates.").With(ScattersNdToVariable);

}  // namespace
}  // namespace sluice
