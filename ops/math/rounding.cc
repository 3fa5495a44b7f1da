// Sign, rounding and what kind of number an element is. y has x's shape.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

TypeSet SignedNumbers() { return FloatTypes() | SignedIntTypes() | ComplexTypes(); }

OP(Abs, "The absolute value of each element. For complex numbers see ComplexAbs.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes()))
    .Shape(SameAsInput(0))
        GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Sign(b.Value("x"))); });

OP(Neg, "Each element with its sign turned.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(SignedNumbers()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { b.Into("x", -b.Of("y")); });

OP(Sign, "-1, 0 or 1 as the element is below, at or above zero; x / |x| of a complex one.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(SignedNumbers()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { b.Into("x", ZerosLike(b.Value("x"))); });

OP(Ceil, "The least integer that is not below the element.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop&) {});

OP(Floor, "The greatest integer that is not above the element.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop&) {});

OP(Rint, "The nearest integer; halfway cases go to the even one.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop&) {});

OP(Round, "The nearest integer; halfway cases go to the even one. Integers stay as they are.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(SignedNumbers()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop&) {});

OP(IsFinite, "True where the element is neither infinite nor NaN.")
    .Input("x", "T")
    .Output("y", DT_BOOL)
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0));

OP(IsInf, "True where the element is infinite, of either sign.")
    .Input("x", "T")
    .Output("y", DT_BOOL)
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0));

OP(IsNan, "True where the element is not a number.")
    .Input("x", "T")
    .Output("y", DT_BOOL)
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
