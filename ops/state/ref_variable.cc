// Variables that graphs hold by reference: made here, changed through their references.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DeclaredShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

absl::Status UpdateShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape merged, c.input(0).MergeWith(c.input(1)));
  return c.SetOutput(0, std::move(merged));
}

OP(Assign,
   "ref = value. Returns `ref`. With `validate_shape` the shapes must agree, else `ref` takes the"
   " shape of `value`.")
    .RefInput("ref", "T")
    .Input("value", "T")
    .RefOutput("output_ref", "T")
    .Attr("T", TypeAttr())
    .Attr("validate_shape", BoolAttr(true))
    .Attr("use_locking", BoolAttr(true))
    .AllowsUninitializedInput()
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      if (c.attr<bool>("validate_shape")) return UpdateShape(c);
      return c.SetOutput(0, c.input(1));
    });

OP(AssignAdd, "ref += value. Returns `ref`.")
    .RefInput("ref", "T")
    .Input("value", "T")
    .RefOutput("output_ref", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .NotDifferentiable()
    .Shape(UpdateShape);

OP(AssignSub, "ref -= value. Returns `ref`.")
    .RefInput("ref", "T")
    .Input("value", "T")
    .RefOutput("output_ref", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("use_locking", BoolAttr(false))
    .NotDifferentiable()
    .Shape(UpdateShape);

OP(CountUpTo,
   "The scalar variable's value, which is then one more. OUT_OF_RANGE when it has reached `limit`.")
    .RefInput("ref", "T")
    .Output("output", "T")
    .Attr("limit", IntAttr())
    .Attr("T", TypeAttr(IndexTypes()))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape scalar, c.WithRank(0, 0));
      return c.SetOutput(0, std::move(scalar));
    });

OP(DestroyTemporaryVariable,
   "The last value of the temporary variable `var_name`, which ends with this.")
    .RefInput("ref", "T")
    .Output("value", "T")
    .Attr("T", TypeAttr())
    .Attr("var_name", StringAttr())
    .Shape(SameAsInput(0));

OP(IsVariableInitialized, "Whether the variable has been assigned a value.")
    .RefInput("ref", "dtype")
    .Output("is_initialized", DT_BOOL)
    .Attr("dtype", TypeAttr())
    .AllowsUninitializedInput()
    .Shape(ScalarOutput());

OP(RefSelect, "The reference among `inputs` that `index` names.")
    .Input("index", DT_INT32)
    .RefInput("inputs", "N*T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .Attr("N", IntAttr().Min(1))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.WithRank(0, 0).status());
      PartialShape same = c.input(1);
      for (int i = 2; i < c.num_inputs(); ++i) {
        if (!same.IsFullyDefined() || !(c.input(i) == same)) same = PartialShape::UnknownRank();
      }
      return c.SetOutput(0, std::move(same));
    });

OP(TemporaryVariable,
   "A variable that lives within one step (and one iteration), up to the"
   " DestroyTemporaryVariable of the same `var_name` (by default the node's name).")
    .RefOutput("ref", "dtype")
    .Attr("shape", ShapeAttr())
    .Attr("dtype", TypeAttr())
    .Attr("var_name", StringAttr(""))
    .Stateful()
    .Shape(DeclaredShape);

OP(Variable, "VariableV2 as old graphs have it: the shape of a scalar stands for an unknown one.")
    .Hidden()
    .RefOutput("ref", "dtype")
    .Attr("shape", ShapeAttr())
    .Attr("dtype", TypeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Hidden()  // class Variable has the name
    .Stateful()
    .Hidden()  // the class Variable stands for it
    .Shape([](ShapeContext& c) -> absl::Status {
      const PartialShape& shape = c.attr<PartialShape>("shape");
      return c.SetOutput(0, shape.rank() == 0 ? PartialShape::UnknownRank() : shape);
    });

OP(VariableV2,
   "A reference to a variable of the given shape and type, without a value until it is assigned."
   " Variables of the same container and name (`shared_name`, else the node's) are the same one.")
    .RefOutput("ref", "dtype")
    .Attr("shape", ShapeAttr())
    .Attr("dtype", TypeAttr())
    .Attr("container", StringAttr(""))
    .Attr("shared_name", StringAttr(""))
    .Stateful()
    .Shape(DeclaredShape);

}  // namespace
}  // namespace sluice
