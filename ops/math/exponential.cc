// Exponentials, logarithms, and the curves made of them. y has x's shape.
//
// The ...Grad ops compute dy * f'(x) from y = f(x): what training calls, in one pass.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/exponential_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// d/dx of Erf is exp(-x^2) * 2/sqrt(pi).
void ErfGradient(Backprop& b, double two_over_root_pi) {
  Output grad = b.Of("y");
  Output factor = NumberLike(grad, two_over_root_pi);
  ControlDependencies after(b.graph(), {grad});
  b.Into("x", grad * factor * Exp(-Square(b.Value("x"))));
}

// 1 where x != 0, else 0: the partial derivative by x of x * f(y), kept at 0 for x = 0.
Output NotZero(Output x) { return Cast(NotEqual(x, NumberLike(x, 0)), BaseType(x.dtype())); }

// Reduced to each input's shape whatever is known of the shapes.
void IntoReshaped(Backprop& b, Output gx, Output gy, Output x_shape, Output y_shape,
                  const BroadcastGradientArgsOutputs& axes) {
  b.Into("x", Reshape(Sum(gx, axes.r0), x_shape));
  b.Into("y", Reshape(Sum(gy, axes.r1), y_shape));
}
#endif

OP(Exp, "e to the power of each element.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * ConjOf(b.Value("y")));
    });

OP(Expm1, "exp(x) - 1, exact for small x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * Exp(ConjOf(b.Value("x"))));
    });

OP(Log, "The natural logarithm.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * Reciprocal(ConjOf(b.Value("x"))));
    });

OP(Log1p, "log(1 + x), exact for small x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      Output x = ConjOf(b.Value("x"));
      b.Into("x", grad * Reciprocal(1 + x));
    });

OP(Sigmoid, "1 / (1 + exp(-x)).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", SigmoidGrad(ConjOf(b.Value("y")), grad));
    });

OP(SigmoidGrad, "The gradient by x of y = Sigmoid(x): dy * y * (1 - y).")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output by_y = grad * ConjOf(b.Value("dy"));
      b.Into("y", by_y - 2 * by_y * y);
      b.Into("dy", SigmoidGrad(y, grad));
    });

OP(Tanh, "Hyperbolic tangent.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", TanhGrad(ConjOf(b.Value("y")), grad));
    });

OP(TanhGrad, "The gradient by x of y = Tanh(x): dy * (1 - y * y).")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output dy = ConjOf(b.Value("dy"));
      b.Into("y", grad * -2 * dy * y);
      b.Into("dy", TanhGrad(y, grad));
    });

OP(Erf, "The Gauss error function: 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { ErfGradient(b, 1.1283791670955126); });

OP(Erfc, "1 - Erf(x), exact for large x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { ErfGradient(b, -1.1283791670955126); });

OP(Xlogy, "x * log(y), and 0 where x is 0 whatever y is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = b.Value("x"), y = b.Value("y");
      Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
      BroadcastGradientArgsOutputs axes = BroadcastGradientArgs(x_shape, y_shape);
      ControlDependencies after(b.graph(), {grad});
      Output by_x = Xlogy(NotZero(x), y);
      Output by_y = Xdivy(x, y);
      IntoReshaped(b, by_x * grad, by_y * grad, x_shape, y_shape, axes);
    });

OP(Xlog1py, "x * log(1 + y), and 0 where x is 0 whatever y is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = b.Value("x"), y = b.Value("y");
      Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
      BroadcastGradientArgsOutputs axes = BroadcastGradientArgs(x_shape, y_shape);
      ControlDependencies after(b.graph(), {grad});
      Output by_x = Xlog1py(NotZero(x), y);
      Output by_y = Xdivy(x, y + 1);
      IntoReshaped(b, by_x * grad, by_y * grad, x_shape, y_shape, axes);
    });

OP(Xdivy, "x / y, and 0 where x is 0 whatever y is. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = b.Value("x"), y = b.Value("y");
      Output x_shape = ShapeOf(x), y_shape = ShapeOf(y);
      BroadcastGradientArgsOutputs axes = BroadcastGradientArgs(x_shape, y_shape);
      ControlDependencies after(b.graph(), {grad});
      Output by_x = Xdivy(NotZero(x), y);
      Output by_y = Xdivy(Neg(x), Pow(y, NumberLike(y, 2, "pow/y")));
      IntoReshaped(b, by_x * grad, by_y * grad, x_shape, y_shape, axes);
    });

}  // namespace
}  // namespace sluice
