// Elementwise squares, roots, reciprocals and powers.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
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

OP(Square, "Computes the square of each element.")
    .With(UnaryElementwise{Numbers()}) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = ConjOf(b.Value("x"));
      return Mul(grad, Mul(x, NumberLike(x, 2)));
    }));

OP(Sqrt, "Computes the square root of each element.")
    .With(UnaryElementwise{FloatAndComplex()})
        GRADIENT([](Backprop& b) { b.Into("x", SqrtGrad(b.Value("y"), b.Of("y"))); });

OP(SqrtGrad, "Computes the gradient of y = Sqrt(x) with respect to x: dy * 0.5 / y.")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output quotient = grad / b.Value("y");
      b.Into("y", -ConjOf(quotient) * b.Value("z"));
      b.Into("dy", 0.5 * quotient);
    });

OP(Rsqrt, "Computes 1 / Sqrt(x).")
    .With(UnaryElementwise{FloatAndComplex()})
        GRADIENT([](Backprop& b) { b.Into("x", RsqrtGrad(b.Value("y"), b.Of("y"))); });

OP(RsqrtGrad, "Computes the gradient of y = Rsqrt(x) with respect to x: dy * -0.5 * y^3.")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      ControlDependencies after(b.graph(), {grad});
      Output y = ConjOf(b.Value("y"));
      Output conj_grad = ConjOf(grad);
      b.Into("y", -1.5 * conj_grad * b.Value("dy") * Square(y));
      b.Into("dy", RsqrtGrad(y, grad));
    });

OP(Reciprocal, "Computes 1 / x.")
    .With(UnaryElementwise{SignedNumbers()}) GRADIENT(ReciprocalGradient);

OP(ReciprocalGrad, "Computes the gradient of y = Reciprocal(x) with respect to x: -dy * y * y.")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT(ReciprocalGradGradient);

OP(Inv, "Computes 1 / x. An older name of Reciprocal.")
    .With(UnaryElementwise{SignedNumbers()}) GRADIENT(ReciprocalGradient);

OP(InvGrad, "An older name of ReciprocalGrad.")
    .With(UnaryGradient{FloatAndComplex()}) GRADIENT(ReciprocalGradGradient);

OP(Pow, "Raises x to the power of y. Integers must have exponents >= 0. Broadcasts.")
    .With(BinaryElementwise{SignedNumbers()})
    // Only for integers, because the power of a floating-point NaN may have another sign.
    .Neutral({1.0, SignedIntTypes()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = ConjOf(b.Value("x"));
      Output y = ConjOf(b.Value("y"));
      Output gx = grad * y * Pow(x, y - 1);
      // The gradient with respect to y is 0 if log(x) is not real and finite.
      Output zero = NumberLike(x, 0, "Greater/y");
      Output mask = IsComplex(x.dtype()) ? NotEqual(x, zero) : Greater(x, zero);
      Output safe_x = Select(mask, x, OnesLike(b.Value("x")));
      Output log_x = Select(mask, Log(safe_x), ZerosLike(b.Value("x")));
      IntoBroadcast(b, gx, grad * ConjOf(b.Value("z")) * log_x);
    });

}  // namespace
}  // namespace sluice
