// The bits of integers, element by element.
#include "ops/op.h"

namespace sluice {
namespace {

OP(BitwiseAnd, "The bits that both x and y have. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .Commutative()
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(BitwiseOr, "The bits that x or y has. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .Commutative()
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(BitwiseXor, "The bits that just one of x and y has. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .Commutative()
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(Invert, "The bits that x does not have.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(LeftShift,
   "x shifted left by y bits; y is limited to the bits of the type less one. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

OP(PopulationCount, "The number of bits that are set in each element.")
    .Input("x", "T")
    .Output("y", DT_UINT8)
    .Attr("T", TypeAttr(IntTypes()))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(RightShift,
   "x shifted right by y bits, keeping the sign; y is limited as in LeftShift. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(IntTypes()))
    .NotDifferentiable()
    .Shape(BroadcastBinary());

}  // namespace
}  // namespace sluice
