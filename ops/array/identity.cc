// Ops that return their input. Graphs use them to rename or place a tensor, to observe or stop its
// gradient, or to declare a property of it.
#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ShapesOfInputs(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (const HandleData* handle = c.InputHandle(i)) c.SetOutputHandle(i, *handle);
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, c.input(i)));
  }
  return absl::OkStatus();
}

absl::Status EnsuredShape(ShapeContext& c) {
  const auto& expected = c.attr<PartialShape>("shape");
  if (expected.rank_known()) SLUICE_RETURN_IF_ERROR(c.WithRank(0, expected.rank()).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, expected.MergeWith(c.input(0)));
  return c.SetOutput(0, std::move(shape));
}

bool AlwaysIdentity(const Node&) { return true; }

void PassGradient(Backprop& b) { b.Into(0, b.GradOf(0)); }

void SameTensor(OpDefBuilder& op) {
  op.Input("input", "T").Output("output", "T").Attr("T", TypeAttr()).Shape(SameAsInput(0));
}

void SameReference(OpDefBuilder& op) {
  op.RefInput("input", "T").RefOutput("output", "T").Attr("T", TypeAttr());
  op.AllowsUninitializedInput().Shape(SameAsInput(0));
}

OP(DebugGradientIdentity, "Returns the input. Gradient debuggers observe its gradient.")
    .With(SameTensor)
    .AllowsUninitializedInput() GRADIENT(PassGradient);

OP(DebugGradientRefIdentity, "DebugGradientIdentity of a reference to a variable.")
    .With(SameReference)
    .OnVariable(VariableUse::kForwards) GRADIENT(PassGradient);

OP(DeepCopy, "Copies x into separate memory.")
    .With(UnaryElementwise{})
    .Elementwise(ElementwiseInputs::kNone)
    .Stateful();

OP(EnsureShape, "Returns the input if its shape is compatible with `shape`, else an error.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("shape", ShapeAttr())
    .Attr("T", TypeAttr())
    .MayForwardInput()
    .ConstantValue(ValueOfInput)
    .Shape(EnsuredShape) GRADIENT(PassGradient);

OP(GuaranteeConst, "Returns the input, which the user guarantees never to change.")
    .With(SameTensor)
    .Stateful()
    .ConstantValue(ValueOfInput);

OP(Identity, "Returns the input.")
    .With(SameTensor)
    .Role(OpRole::kPass)
    .Identity(AlwaysIdentity)
    .ConstantValue(ValueOfInput)
    .Images(ImagesOfOneSize)
    .Recompute(RecomputeCost::kElements) GRADIENT(PassGradient);

OP(IdentityN, "Returns its inputs, which may have different types.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeListAttr().Min(1))
    .View()
    .Shape(ShapesOfInputs) GRADIENT([](Backprop& b) {
      for (int i = 0; i < b.op().num_inputs(); ++i) b.Into(i, b.GradOf(i));
    });

OP(PreventGradient, "Returns the input. Its gradient is an error with the text `message`.")
    .With(SameTensor)
    .Attr("message", StringAttr(""))
    .Role(OpRole::kPass)
    .Impure(Impurity::kCheck)
    .ConstantValue(ValueOfInput) GRADIENT([](Backprop& b) {
      b.Fail(absl::NotFoundError(
          StrCat("Gradient explicitly disabled. Reason: ", b.attr<std::string>("message"))));
    });

OP(RefIdentity, "Returns the input, a reference to a variable.")
    .With(SameReference)
    .Role(OpRole::kPass) GRADIENT(PassGradient);

OP(Snapshot, "Copies input into separate memory.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Shape(SameAsInput(0));

OP(StopGradient, "Returns the input, which is a constant for gradients.")
    .With(SameTensor)
    .NotDifferentiable()
    .Role(OpRole::kPass)
    .Identity(AlwaysIdentity)
    .ConstantValue(ValueOfInput)
    .Images(ImagesOfOneSize);

}  // namespace
}  // namespace sluice
