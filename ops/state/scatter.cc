// Ops that update rows of a variable: updates[i..., :] is applied to row indices[i...]. If a row is
// repeated, its updates are done one after the other, in order. A scalar `updates` applies to every
// row.
#include "ops/op.h"
#include "ops/state/variable_shape.h"

namespace sluice {
namespace {

// Checks that updates.shape = indices.shape + var.shape[1:], or that updates is a scalar.
absl::Status CheckUpdates(ShapeContext& c, const PartialShape& var) {
  if (!var.rank_known()) return absl::OkStatus();
  SLUICE_INVALID_IF(var.rank() < 1, "Shape must be at least rank 1 but is rank 0");
  if (c.input(2).rank() == 0) return absl::OkStatus();
  const PartialShape row(var.dims().subspan(1));
  return c.input(2).MergeWith(c.input(1).Concatenate(row)).status();
}

auto ScattersToRef(TypeSet types, bool use_locking) {
  return [=](OpDefBuilder& op) {
    op.RefInput("ref", "T")
        .Input("indices", "Tindices")
        .Input("updates", "T")
        .RefOutput("output_ref", "T")
        .Attr("T", TypeAttr(types))
        .Attr("Tindices", TypeAttr(IndexTypes()))
        .Attr("use_locking", BoolAttr(use_locking))
        .Shape([](ShapeContext& c) -> absl::Status {
          SLUICE_RETURN_IF_ERROR(CheckUpdates(c, c.input(0)));
          return c.SetOutput(0, c.input(0));
        });
  };
}

auto ScattersToVariable(TypeSet types) {
  return [=](OpDefBuilder& op) {
    op.Input("resource", DT_RESOURCE)
        .Input("indices", "Tindices")
        .Input("updates", "dtype")
        .Attr("dtype", TypeAttr(types))
        .Attr("Tindices", TypeAttr(IndexTypes()))
        .Stateful()
        .Shape([](ShapeContext& c) -> absl::Status {
          SLUICE_ASSIGN_OR_RETURN(const PartialShape shape,
                                  VariableShapeOf(c, 0, c.attr<DataType>("dtype")));
          return CheckUpdates(c, shape);
        });
  };
}

OP(ScatterAdd, "Computes ref[indices, …] += updates.")
    .With(ScattersToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterDiv, "Computes ref[indices, …] /= updates.")
    .With(ScattersToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterMax, "Computes ref[indices, …] = max(ref[indices, …], updates).")
    .With(ScattersToRef(FloatTypes() | IndexTypes(), false));

OP(ScatterMin, "Computes ref[indices, …] = min(ref[indices, …], updates).")
    .With(ScattersToRef(FloatTypes() | IndexTypes(), false));

OP(ScatterMul, "Computes ref[indices, …] *= updates.")
    .With(ScattersToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterSub, "Computes ref[indices, …] -= updates.")
    .With(ScattersToRef(NumberTypes(), false))
    .NotDifferentiable();

OP(ScatterUpdate, "Computes ref[indices, …] = updates.").With(ScattersToRef(TypeSet(), true));

OP(ResourceScatterAdd, "Computes variable[indices, …] += updates.")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterDiv, "Computes variable[indices, …] /= updates.")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterMax, "Computes variable[indices, …] = max(variable[indices, …], updates).")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterMin, "Computes variable[indices, …] = min(variable[indices, …], updates).")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterMul, "Computes variable[indices, …] *= updates.")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterSub, "Computes variable[indices, …] -= updates.")
    .With(ScattersToVariable(NumberTypes()));

OP(ResourceScatterUpdate, "Computes variable[indices, …] = updates.")
    .With(ScattersToVariable(TypeSet()));

}  // namespace
}  // namespace sluice
