// Elementwise sign, rounding and neighbours of numbers, and tests for numbers that are not finite.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

// Returns whether a double negation keeps all bits. It does not for 16-bit floats, whose kernels
// replace every NaN by the same one.
bool NegatesBack(const Node& outer, const Node&) {
  constexpr TypeSet kTypes = FloatAndDouble() | SignedIntTypes() | ComplexTypes();
  return kTypes.contains(outer.output_type(0));
}

OP(Abs, "Computes the absolute value of each real element. ComplexAbs takes complex numbers.")
    .With(UnaryElementwise{FloatTypes() | SignedIntTypes()})
        GRADIENT([](Backprop& b) { b.Into("x", b.Of("y") * Sign(b.Value("x"))); });

OP(Neg, "Negates each element.")
    .With(UnaryElementwise{SignedNumbers()})
    .Undoes(NegatesBack) GRADIENT([](Backprop& b) { b.Into("x", -b.Of("y")); });

OP(Sign, "Returns -1, 0 or 1 for negative, zero and positive elements, and x / |x| for complex x.")
    .With(UnaryElementwise{SignedNumbers()})
        GRADIENT([](Backprop& b) { b.Into("x", ZerosLike(b.Value("x"))); });

OP(Ceil, "Rounds each element up to an integer.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT([](Backprop&) {});

OP(Floor, "Rounds each element down to an integer.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT([](Backprop&) {});

OP(Rint, "Rounds each element to the nearest integer, halves to the even one.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT([](Backprop&) {});

OP(Round, "Rounds each element to the nearest integer, halves to the even one. Keeps integers.")
    .With(UnaryElementwise{SignedNumbers()}) GRADIENT([](Backprop&) {});

OP(IsFinite, "Tests whether each element is neither infinite nor NaN.")
    .With(UnaryElementwise{FloatTypes(), DT_BOOL});

OP(IsInf, "Tests whether each element is positive or negative infinity.")
    .With(UnaryElementwise{FloatTypes(), DT_BOOL});

OP(IsNan, "Tests whether each element is NaN.").With(UnaryElementwise{FloatTypes(), DT_BOOL});

OP(NextAfter, "Returns the representable number next to x1 in the direction of x2. Broadcasts.")
    .Input("x1", "T")
    .Input("x2", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatAndDouble(), DT_FLOAT))
    .With(ElementsBroadcast) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      ControlDependencies after(b.graph(), {grad});
      IntoBroadcast(b, grad, ZerosLike(grad));
    });

}  // namespace
}  // namespace sluice
