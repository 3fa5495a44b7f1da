// Elementwise comparisons and logic. Ordered comparisons with NaN are false.
#include "ops/op.h"

namespace sluice {
namespace {

// Declares a logical operation on two boolean tensors that broadcast.
void LogicalOp(OpDefBuilder& op) {
  op.Input("x", DT_BOOL).Input("y", DT_BOOL).Output("z", DT_BOOL);
  op.Commutative().NotDifferentiable().With(ElementsBroadcast);
}

// Sets the output's shape to the broadcast shape, or to a scalar if the shapes are incompatible and
// the node permits that.
absl::Status EqualityShape(ShapeContext& c) {
  absl::StatusOr<PartialShape> shape = BroadcastShapes(c.input(0), c.input(1));
  if (shape.ok()) return c.SetOutput(0, *std::move(shape));
  if (c.attr<bool>("incompatible_shape_error")) return shape.status();
  return c.SetOutput(0, PartialShape::Scalar());
}

void EqualityOp(OpDefBuilder& op) {
  op.With(ElementwiseComparison{{}}).Attr("incompatible_shape_error", BoolAttr(true));
  op.Commutative().Shape(EqualityShape);
}

OP(Equal,
   "Tests x == y. Broadcasts. Returns the scalar false for incompatible shapes if "
   "incompatible_shape_error is false.")
    .With(EqualityOp);

OP(NotEqual,
   "Tests x != y. Broadcasts. Returns the scalar true for incompatible shapes if "
   "incompatible_shape_error is false.")
    .With(EqualityOp);

OP(Greater, "Tests x > y. Broadcasts.").With(ElementwiseComparison{RealTypes()});

OP(GreaterEqual, "Tests x >= y. Broadcasts.").With(ElementwiseComparison{RealTypes()});

OP(Less, "Tests x < y. Broadcasts.").With(ElementwiseComparison{RealTypes()});

OP(LessEqual, "Tests x <= y. Broadcasts.").With(ElementwiseComparison{RealTypes()});

OP(ApproximateEqual, "Tests |x - y| < tolerance, for tensors of equal shapes.")
    .With(ElementwiseComparison{NumberTypes()})
    .Attr("tolerance", FloatAttr(9.99999975e-06f))
    .Commutative()
    .Elementwise(ElementwiseInputs::kNone)
    .Shape(AllSameShape());

OP(LogicalAnd, "Tests whether both x and y are true. Broadcasts.").With(LogicalOp);

OP(LogicalOr, "Tests whether x or y is true. Broadcasts.").With(LogicalOp);

OP(LogicalNot, "Negates each boolean element.")
    .Input("x", DT_BOOL)
    .Output("y", DT_BOOL)
    .NotDifferentiable()
    .Undoes([](const Node&, const Node&) { return true; })
    .With(ElementByElement);

}  // namespace
}  // namespace sluice
