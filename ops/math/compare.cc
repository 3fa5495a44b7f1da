// Comparisons and logic, element by element; shapes broadcast. Comparing with NaN is false.
#include "ops/op.h"

namespace sluice {
namespace {

// Broadcasts; shapes that do not fit give a scalar, where they are no error.
absl::Status EqualityShape(ShapeContext& c) {
  absl::StatusOr<PartialShape> shape = BroadcastShapes(c.input(0), c.input(1));
  if (shape.ok()) return c.SetOutput(0, *std::move(shape));
  if (c.attr<bool>("incompatible_shape_error")) return shape.status();
  return c.SetOutput(0, PartialShape::Scalar());
}

OP(Equal,
   "x == y. With incompatible_shape_error = false, shapes that do not broadcast give the scalar "
   "false.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr())
    .Attr("incompatible_shape_error", BoolAttr(true))
    .Commutative()
    .NotDifferentiable()
    .Shape(EqualityShape);

OP(NotEqual,
   "x != y. With incompatible_shape_error = false, shapes that do not broadcast give the scalar "
   "true.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr())
    .Attr("incompatible_shape_error", BoolAttr(true))
    .Commutative()
    .NotDifferentiable()
    .Shape(EqualityShape);

OP(Greater, "x > y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr(RealTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(GreaterEqual, "x >= y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr(RealTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(Less, "x < y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr(RealTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(LessEqual, "x <= y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr(RealTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(ApproximateEqual, "|x - y| < tolerance, of tensors of one shape.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", DT_BOOL)
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("tolerance", FloatAttr(9.99999975e-06f))
    .Commutative()
    .NotDifferentiable()
    .Shape(AllSameShape());

OP(LogicalAnd, "Both are true. Broadcasts.")
    .Input("x", DT_BOOL)
    .Input("y", DT_BOOL)
    .Output("z", DT_BOOL)
    .Commutative()
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(LogicalOr, "At least one is true. Broadcasts.")
    .Input("x", DT_BOOL)
    .Input("y", DT_BOOL)
    .Output("z", DT_BOOL)
    .Commutative()
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(LogicalNot, "True becomes false, false becomes true.")
    .Input("x", DT_BOOL)
    .Output("y", DT_BOOL)
    .NotDifferentiable()
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
