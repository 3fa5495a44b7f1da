// Constants, and placeholders for tensors that a step is fed.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ConstantShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<Tensor>("value").shape());
}

absl::Status ShapeFromAttr(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

// In GraphDefs up to version 21, shape [] means any shape.
absl::Status PlaceholderShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  if (c.node().graph()->versions().producer <= 21 && shape.rank() == 0) {
    return c.SetOutput(0, PartialShape());
  }
  return c.SetOutput(0, shape);
}

absl::Status DefaultShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  // A feed may have any shape that the attribute allows, so only compatibility is checked.
  SLUICE_RETURN_IF_ERROR(shape.MergeWith(c.input(0)).status());
  return c.SetOutput(0, shape);
}

void ConstantOp(OpDefBuilder& op) {
  op.Output("output", "dtype").Attr("value", TensorAttr()).Attr("dtype", TypeAttr());
  op.Role(OpRole::kConstant).Shape(ConstantShape);
}

OP(Const, "Returns the constant tensor `value`.").With(ConstantOp).NotDifferentiable();

OP(GraphDefVersion, "Returns the version of the GraphDef from which the graph was imported.")
    .Output("version", DT_INT32)
    .Stateful()
    .Shape(ScalarOutput());

OP(HostConst, "Returns a constant in host memory on all devices.").With(ConstantOp);

OP(ImmutableConst, "Returns a constant whose bytes are those of the file `memory_region_name`.")
    .Output("tensor", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Attr("memory_region_name", StringAttr())
    .Shape(ShapeFromAttr);

OP(Placeholder, "Returns a tensor that must be fed in each step that uses it.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr(PartialShape()))
    .Role(OpRole::kPlaceholder)
    .Shape(PlaceholderShape);

OP(PlaceholderV2, "An older form of Placeholder, whose shape must be given.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Deprecated(23, "Placeholder now behaves the same as PlaceholderV2.")
    .Role(OpRole::kPlaceholder)
    .Shape(ShapeFromAttr);

OP(PlaceholderWithDefault, "Returns the input if no other tensor is fed.")
    .Input("input", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Role(OpRole::kPass)
    .Impure(Impurity::kPlaceholder)
    .Shape(DefaultShape) GRADIENT([](Backprop& b) { b.Into("input", b.GradOf(0)); });

}  // namespace
}  // namespace sluice
