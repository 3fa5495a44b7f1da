// Squares, roots, reciprocals and powers.
//
// The ...Grad ops compute dy * f'(x) from y = f(x), in one pass.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/exponential_builders.h"
#include "ops/math/power_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
void ReciprocalGradient(Backprop& b) { b.Into("x", ReciprocalGrad(b.Value("y"), b.Of("y"))); }

void ReciprocalGradGradient(Backprop& b) {
  Output grad = b.Of("z");
  ControlDependencies after(b.graph(), {grad});
  Output y = ConjOf(b.Value("y"));
  Output conj_grad = ConjOf(grad);
  b.Into("y", conj_grad * -2 * b.Value("dy") * y);
  b.Into("dy", ReciprocalGrad(y, grad));
}
#endif

OP(Square, "The square of each element.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      Output x = ConjOf(b.Value("x"));
      b.Into("x", Mul(grad, Mul(x, NumberLike(x, 2))));
    });

OP(Sqrt, "The square root.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0))
        GRADIENT([](Backprop& b) { b.Into("x", SqrtGrad(b.Value("y"), b.Of("y"))); });

OP(SqrtGrad, "The gradient by x of y = Sqrt(x): dy * 0.5 / y.")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output quotient = grad / b.Value("y");
      b.Into("y", -ConjOf(quotient) * b.Value("z"));
      b.Into("dy", 0.5 * quotient);
    });

OP(Rsqrt, "1 / Sqrt(x).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0))
        GRADIENT([](Backprop& b) { b.Into("x", RsqrtGrad(b.Value("y"), b.Of("y"))); });

OP(RsqrtGrad, "The gradient by x of y = Rsqrt(x): dy * -0.5 * y^3.")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output conj_grad = ConjOf(grad);
      b.Into("y", -1.5 * conj_grad * b.Value("dy") * Square(y));
      b.Into("dy", RsqrtGrad(y, grad));
    });

OP(Reciprocal, "1 / x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes()))
    .Shape(SameAsInput(0)) GRADIENT(ReciprocalGradient);

OP(ReciprocalGrad, "The gradient by x of y = Reciprocal(x): -dy * y * y.")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT(ReciprocalGradGradient);

OP(Inv, "1 / x. An older name of Reciprocal.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes()))
    .Shape(SameAsInput(0)) GRADIENT(ReciprocalGradient);

OP(InvGrad, "An older name of ReciprocalGrad.")
    .Input("y", "T")
    .Input("dy", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndComplex()))
    .Shape(SameAsInput(0)) GRADIENT(ReciprocalGradGradient);

OP(Pow, "x to the power of y. Broadcasts. Integers take no negative exponent.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | SignedIntTypes() | ComplexTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = ConjOf(b.Value("x"));
      Output y = ConjOf(b.Value("y"));
      Output gx = grad * y * Pow(x, y - 1);
      // log(x) where it is real and finite; 0 elsewhere, as the power then does not follow y.
      Output zero = NumberLike(x, 0, "Greater/y");
      Output mask = IsComplex(x.dtype()) ? NotEqual(x, zero) : Greater(x, zero);
      Output safe_x = Select(mask, x, OnesLike(b.Value("x")));
      Output log_x = Select(mask, Log(safe_x), ZerosLike(b.Value("x")));
      IntoBroadcast(b, gx, grad * ConjOf(b.Value("z")) * log_x);
    });

}  // namespace
}  // namespace sluice
