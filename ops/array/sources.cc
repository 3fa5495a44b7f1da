// Where tensors come from: constants, and what a step is fed.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status ConstantShape(ShapeContext& c) {
  return c.SetOutput(0, c.attr<Tensor>("value").shape());
}

absl::Status ShapeFromAttr(ShapeContext& c) {
  return c.SetOutput(0, c.attr<PartialShape>("shape"));
}

// GraphDefs older than version 24 wrote [] where they meant any shape.
absl::Status PlaceholderShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  if (c.node().graph()->versions().producer < 24 && shape.rank() == 0) {
    return c.SetOutput(0, PartialShape());
  }
  return c.SetOutput(0, shape);
}

absl::Status DefaultShape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  // Only compatibility is checked: a feed may have any shape that the attribute allows.
  SLUICE_RETURN_IF_ERROR(shape.MergeWith(c.input(0)).status());
  return c.SetOutput(0, shape);
}

OP(Const, "The tensor `value`, the same in every step.")
    .Output("output", "dtype")
    .Attr("value", TensorAttr())
    .Attr("dtype", TypeAttr())
    .NotDifferentiable()
    .Shape(ConstantShape);

OP(GraphDefVersion, "The version of the GraphDef format that the graph was written in.")
    .Output("version", DT_INT32)
    .Stateful()
    .Shape(ScalarOutput());

OP(HostConst, "Const that stays in the host's memory on every device.")
    .Output("output", "dtype")
    .Attr("value", TensorAttr())
    .Attr("dtype", TypeAttr())
    .Shape(ConstantShape);

OP(ImmutableConst,
   "A constant of a shape whose bytes are the file `memory_region_name`, mapped rather than read.")
    .Output("tensor", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Attr("memory_region_name", StringAttr())
    .Shape(ShapeFromAttr);

OP(Placeholder, "A tensor that every step which needs it must be fed.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr(PartialShape()))
    .Shape(PlaceholderShape);

OP(PlaceholderV2, "An old form of Placeholder, whose shape must be given.")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Deprecated(23, "Placeholder now behaves the same as PlaceholderV2.")
    .Shape(ShapeFromAttr);

OP(PlaceholderWithDefault, "`input`, unless the step is fed another tensor in its place.")
    .Input("input", "dtype")
    .Output("output", "dtype")
    .Attr("dtype", TypeAttr())
    .Attr("shape", ShapeAttr())
    .Shape(DefaultShape) GRADIENT([](Backprop& b) { b.Into("input", b.GradOf(0)); });

}  // namespace
}  // namespace sluice
