// Elementwise exponentials, logarithms, and functions made of them.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/exponential_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds the gradient of Erf, whose derivative is exp(-x^2) * 2 / sqrt(pi). For Erfc, callers pass
// the negative factor.
void ErfGradient(Backprop& b, double two_over_sqrt_pi) {
  Output grad = b.Of("y");
  Output factor = NumberLike(grad, two_over_sqrt_pi);
  ControlDependencies after(b.graph(), {grad});
  b.Into("x", grad * factor * Exp(-Square(b.Value("x"))));
}

// Returns 1 if x != 0, otherwise 0. The gradients below need it for functions x * f(y) that are
// defined as 0 at x = 0.
Output NotZero(Output x) { return Cast(NotEqual(x, NumberLike(x, 0)), BaseType(x.dtype())); }

// Returns a gradient function that sums the gradients to the shapes of x and y in the step. As in
// TensorFlow, it does so even if the static shapes show that nothing was broadcast. `partials`
// builds the partial derivatives.
GradientFunction ProductGradient(GradientPair (*partials)(Output x, Output y)) {
  return [partials](Backprop& b) {
    Output grad = b.Of("z");
    Output x = b.Value("x"), y = b.Value("y");
    Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
    BroadcastGradientArgsOutputs axes = BroadcastGradientArgs(x_shape, y_shape);
    ControlDependencies after(b.graph(), {grad});
    const GradientPair partial = partials(x, y);
    b.Into("x", Reshape(Sum(partial.x * grad, axes.r0), x_shape));
    b.Into("y", Reshape(Sum(partial.y * grad, axes.r1), y_shape));
  };
}
#endif

OP(Exp, "Computes the exponential function of each element.")
    .With(UnaryElementwise{FloatAndComplex()})
        GRADIENT(ChainRule([](Backprop& b, Output grad) { return grad * ConjOf(b.Value("y")); }));

OP(Expm1, "Computes exp(x) - 1 without losing precision for small x.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * Exp(ConjOf(b.Value("x")));
    }));

OP(Log, "Computes the natural logarithm of each element.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return grad * Reciprocal(ConjOf(b.Value("x")));
    }));

OP(Log1p, "Computes log(1 + x) without losing precision for small x.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = ConjOf(b.Value("x"));
      return grad * Reciprocal(1 + x);
    }));

OP(Sigmoid, "Computes 1 / (1 + exp(-x)).")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return SigmoidGrad(ConjOf(b.Value("y")), grad);
    }));

OP(SigmoidGrad, "Computes the gradient of y = Sigmoid(x) with respect to x: dy * y * (1 - y).")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output by_y = grad * ConjOf(b.Value("dy"));
      b.Into("y", by_y - 2 * by_y * y);
      b.Into("dy", SigmoidGrad(y, grad));
    });

OP(Tanh, "Computes the hyperbolic tangent of each element.")
    .With(UnaryElementwise{FloatAndComplex()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      return TanhGrad(ConjOf(b.Value("y")), grad);
    }));

OP(TanhGrad, "Computes the gradient of y = Tanh(x) with respect to x: dy * (1 - y * y).")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output dy = ConjOf(b.Value("dy"));
      b.Into("y", grad * -2 * dy * y);
      b.Into("dy", TanhGrad(y, grad));
    });

OP(Erf, "Computes the Gauss error function, 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT([](Backprop& b) { ErfGradient(b, 1.1283791670955126); });

OP(Erfc, "Computes 1 - Erf(x) without losing precision for large x.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT([](Backprop& b) { ErfGradient(b, -1.1283791670955126); });

OP(Xlogy, "Computes x * log(y), and 0 if x is 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()}) GRADIENT(ProductGradient([](Output x, Output y) {
      return GradientPair{Xlogy(NotZero(x), y), Xdivy(x, y)};
    }));

OP(Xlog1py, "Computes x * log(1 + y), and 0 if x is 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()}) GRADIENT(ProductGradient([](Output x, Output y) {
      return GradientPair{Xlog1py(NotZero(x), y), Xdivy(x, y + 1)};
    }));

OP(Xdivy, "Computes x / y, and 0 if x is 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()}) GRADIENT(ProductGradient([](Output x, Output y) {
      return GradientPair{Xdivy(NotZero(x), y), Xdivy(Neg(x), Pow(y, NumberLike(y, 2, "pow/y")))};
    }));

}  // namespace
}  // namespace sluice
