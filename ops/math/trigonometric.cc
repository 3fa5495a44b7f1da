// Circular and hyperbolic functions and their inverses. y has x's shape.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/power_builders.h"
#include "ops/math/trigonometric_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// grad * derivative(conj(x)), computed once the gradient is there.
template <typename Derivative>
void Chain(Backprop& b, Derivative derivative) {
  Output grad = b.Of("y");
  ControlDependencies after(b.graph(), {grad});
  b.Into("x", grad * derivative(ConjOf(b.Value("x"))));
}

// 1 / sqrt(1 - x^2)
Output InverseRootOfOneMinusSquare(Output x) {
  Output square = Square(x);
  return Reciprocal(Sqrt(Sub(NumberLike(x, 1), square)));
}
#endif

OP(Sin, "Sine of an angle in radians.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { Chain(b, [](Output x) { return Cos(x); }); });

OP(Cos, "Cosine of an angle in radians.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      Output x = ConjOf(b.Value("x"));
      Output minus = -grad;
      b.Into("x", minus * Sin(x));
    });

OP(Tan, "Tangent of an angle in radians.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", Square(Reciprocal(Cos(ConjOf(b.Value("x"))))) * grad);
    });

OP(Asin, "The angle in [-pi/2, pi/2] whose sine x is.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { Chain(b, InverseRootOfOneMinusSquare); });

OP(Acos, "The angle in [0, pi] whose cosine x is.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      Output inverse = InverseRootOfOneMinusSquare(ConjOf(b.Value("x")));
      Output minus = -grad;
      b.Into("x", minus * inverse);
    });

OP(Atan, "The angle in (-pi/2, pi/2) whose tangent x is.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Chain(b, [](Output x) {
        Output square = Square(x);
        return Reciprocal(AddV2(NumberLike(x, 1), square));
      });
    });

OP(Atan2, "The angle in [-pi, pi] of the point (x, y). Broadcasts.")
    .Input("y", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output y = b.Value("y"), x = b.Value("x");
      ControlDependencies after(b.graph(), {grad});
      Output y2 = Square(y);
      Output x2 = Square(x);
      Output quotient = grad / (y2 + x2);
      Output gy = x * quotient;
      Output gx = -y * quotient;
      IntoBroadcast(b, gy, gx);
    });

OP(Sinh, "Hyperbolic sine.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0))
        GRADIENT([](Backprop& b) { Chain(b, [](Output x) { return Cosh(x); }); });

OP(Cosh, "Hyperbolic cosine.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0))
        GRADIENT([](Backprop& b) { Chain(b, [](Output x) { return Sinh(x); }); });

OP(Asinh, "Inverse hyperbolic sine.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad / Cosh(ConjOf(b.Value("y"))));
    });

OP(Acosh, "Inverse hyperbolic cosine; NaN below 1.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad / Sinh(ConjOf(b.Value("y"))));
    });

OP(Atanh, "Inverse hyperbolic tangent; NaN outside [-1, 1].")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Chain(b, [](Output x) {
        Output square = Square(x);
        return Reciprocal(Sub(NumberLike(x, 1), square));
      });
    });

}  // namespace
}  // namespace sluice
