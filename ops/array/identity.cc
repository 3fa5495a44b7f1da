// Ops that hand on their input: for names, placement, gradients and promises.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status EachAsItsInput(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (const HandleData* handle = c.InputHandle(i)) c.SetOutputHandle(i, *handle);
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
  }
  return absl::OkStatus();
}

absl::Status EnsuredShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.attr<PartialShape>("shape").MergeWith(c.input(0)));
  return c.SetOutput(0, std::move(shape));
}

void PassGradient(Backprop& b) { b.Into(0, b.GradOf(0)); }

OP(DebugGradientIdentity, "Identity whose gradient a gradient debugger watches.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .AllowsUninitializedInput()
    .Shape(SameAsInput(0)) GRADIENT(PassGradient);

OP(DebugGradientRefIdentity, "DebugGradientIdentity of a reference to a variable.")
    .RefInput("input", "T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .AllowsUninitializedInput()
    .Shape(SameAsInput(0)) GRADIENT(PassGradient);

OP(DeepCopy, "A copy of `x` in memory of its own.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(SameAsInput(0));

OP(EnsureShape, "`input`, once its shape is found to be compatible with `shape`.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("shape", ShapeAttr())
    .Attr("T", TypeAttr())
    .Shape(EnsuredShape) GRADIENT(PassGradient);

OP(GuaranteeConst, "`input`, with the user's promise that it never changes.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(SameAsInput(0));

OP(Identity, "`input`.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Shape(SameAsInput(0)) GRADIENT(PassGradient);

OP(IdentityN, "Tensors of any types, each as it came.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Shape(EachAsItsInput) GRADIENT([](Backprop& b) {
      for (int i = 0; i < b.op().num_inputs(); ++i) b.Into(i, b.GradOf(i));
    });

OP(PreventGradient, "`input`; asking for a gradient through it is an error, which says `message`.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("message", StringAttr(""))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Fail(absl::NotFoundError(
          StrCat("Gradient explicitly disabled. Reason: ", b.attr<std::string>("message"))));
    });

OP(RefIdentity, "`input`, a reference to a variable.")
    .RefInput("input", "T")
    .RefOutput("output", "T")
    .Attr("T", TypeAttr())
    .AllowsUninitializedInput()
    .Shape(SameAsInput(0)) GRADIENT(PassGradient);

OP(StopGradient, "`input`, as a constant for gradients.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
