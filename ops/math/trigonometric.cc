// Elementwise trigonometric and hyperbolic functions, and their inverses.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/power_builders.h"
#include "ops/math/trigonometric_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns 1 / sqrt(1 - x^2).
Output InverseRootOfOneMinusSquare(Output x) {
  Output square = Square(x);
  return Reciprocal(Sqrt(Sub(NumberLike(x, 1), square)));
}
#endif

OP(Sin, "Computes the sine of angles in radians.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * Cos(ConjOf(b.Value("x")));
    }));

OP(Cos, "Computes the cosine of angles in radians.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = ConjOf(b.Value("x"));
      Output minus = -grad;
      return minus * Sin(x);
    }));

OP(Tan, "Computes the tangent of angles in radians.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return Square(Reciprocal(Cos(ConjOf(b.Value("x"))))) * grad;
    }));

OP(Asin, "Computes the inverse sine, in [-pi/2, pi/2].")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * InverseRootOfOneMinusSquare(ConjOf(b.Value("x")));
    }));

OP(Acos, "Computes the inverse cosine, in [0, pi].")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output inverse = InverseRootOfOneMinusSquare(ConjOf(b.Value("x")));
      Output minus = -grad;
      return minus * inverse;
    }));

OP(Atan, "Computes the inverse tangent, in (-pi/2, pi/2).")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = ConjOf(b.Value("x"));
      Output square = Square(x);
      return grad * Reciprocal(AddV2(NumberLike(x, 1), square));
    }));

OP(Atan2, "Computes the angle of the point (x, y) in radians, in [-pi, pi]. Broadcasts.")
    .With(BinaryElementwise{FloatTypes(), "y", "x"}) GRADIENT([](Backprop& b) {
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

OP(Sinh, "Computes the hyperbolic sine.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * Cosh(ConjOf(b.Value("x")));
    }));

OP(Cosh, "Computes the hyperbolic cosine.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * Sinh(ConjOf(b.Value("x")));
    }));

OP(Asinh, "Computes the inverse hyperbolic sine.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad / Cosh(ConjOf(b.Value("y")));
    }));

OP(Acosh, "Computes the inverse hyperbolic cosine. NaN for x < 1.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad / Sinh(ConjOf(b.Value("y")));
    }));

OP(Atanh, "Computes the inverse hyperbolic tangent. NaN for |x| > 1.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = ConjOf(b.Value("x"));
      Output square = Square(x);
      return grad * Reciprocal(Sub(NumberLike(x, 1), square));
    }));

}  // namespace
}  // namespace sluice
