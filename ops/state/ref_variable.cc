// Ops that make variables for use by reference, and ops that change such variables.
#include "ops/op.h"
#include "ops/state/mixins.h"

namespace sluice {
namespace {

absl::Status DeclaredShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

absl::Status UpdateShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape merged, c.input(0).MergeWith(c.input(1)));
  return c.SetOutput(0, std::move(merged));
}

void UpdatesRef(OpDefBuilder& op) {
  op.RefInput("ref", "T")
      .Input("value", "T")
      .RefOutput("output_ref", "T")
      .NotDifferentiable()
      .Shape(UpdateShape);
}

void AddsToRef(OpDefBuilder& op) {
  op.With(UpdatesRef).Attr("T", TypeAttr(NumberTypes())).Attr("use_locking", BoolAttr(false));
}

void MakesVariable(OpDefBuilder& op) {
  op.RefOutput("ref", "dtype")
      .Attr("shape", ShapeAttr())
      .Attr("dtype", TypeAttr())
      .Stateful()
      .Shape(DeclaredShape);
}

OP(Assign,
   "Computes ref = value and returns `ref`. With `validate_shape` the shapes must be equal. "
   "Otherwise `ref` gets the shape of `value`.")
    .With(UpdatesRef)
    .Attr("T", TypeAttr())
    .Attr("validate_shape", BoolAttr(true))
    .Attr("use_locking", BoolAttr(true))
    .AllowsUninitializedInput()
    .OnVariable(VariableUse::kAssigns)
    .Shape([](ShapeContext& c) -> absl::Status {
      if (c.attr<bool>("validate_shape")) return UpdateShape(c);
      return c.SetOutput(0, c.input(1));
    });

OP(AssignAdd, "Computes ref += value and returns `ref`.").With(AddsToRef);

OP(AssignSub, "Computes ref -= value and returns `ref`.").With(AddsToRef);

OP(CountUpTo,
   "Returns the value of a scalar variable and increments it. OUT_OF_RANGE if it is at `limit`.")
    .RefInput("ref", "T")
    .Output("output", "T")
    .Attr("limit", IntAttr())
    .Attr("T", TypeAttr(IndexTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape scalar, c.WithRank(0, 0));
      return c.SetOutput(0, std::move(scalar));
    });

OP(DestroyTemporaryVariable,
   "Destroys the temporary variable `var_name` and returns its last value.")
    .RefInput("ref", "T")
    .Output("value", "T")
    .Attr("T", TypeAttr())
    .Attr("var_name", StringAttr())
    .Shape(SameAsInput(0));

OP(IsVariableInitialized, "Returns whether the variable has a value.")
    .RefInput("ref", "dtype")
    .Output("is_initialized", DT_BOOL)
    .Attr("dtype", TypeAttr())
    .AllowsUninitializedInput()
    .OnVariable(VariableUse::kInspects)
    .Shape(ScalarOutput());

OP(RefSelect, "Returns the reference at `index` of `inputs`.")
    .Input("index", DT_INT32)
    .RefInput("inputs", "N*T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .OnVariable(VariableUse::kForwards)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      PartialShape same = c.input(1);
      for (int i = 2; i < c.num_inputs(); ++i) {
        if (!same.IsFullyDefined() || !(c.input(i) == same)) same = PartialShape::UnknownRank();
      }
      return c.SetOutput(0, std::move(same));
    });

OP(TemporaryVariable,
   "Makes a variable that lives within one step and one iteration, until the "
   "DestroyTemporaryVariable with the same `var_name` (by default, the name of the node).")
    .With(MakesVariable)
    .Attr("var_name", StringAttr(""));

OP(Variable, "VariableV2 of old graphs. The shape of a scalar stands for an unknown shape.")
    .With(MakesVariable)
    .With(ContainerAttrs)
    .Hidden()  // the class Variable has this name
    .OnVariable(VariableUse::kCreates)
    .SharedByReplicas()
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape& shape = c.attr<PartialShape>("shape");
      return c.SetOutput(0, shape.rank() == 0 ? PartialShape::UnknownRank() : shape);
    });

OP(VariableV2,
   "Makes a variable without a value and returns a reference to it. All ops with one container and "
   "name (`shared_name` or, without it, the name of the node) share a variable.")
    .With(MakesVariable)
    .With(ContainerAttrs)
    .OnVariable(VariableUse::kCreates)
    .SharedByReplicas();

}  // namespace
}  // namespace sluice
