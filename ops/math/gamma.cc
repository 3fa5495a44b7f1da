// Elementwise logarithm of the gamma function, its derivatives, and the zeta function.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/gamma_builders.h"
#endif

namespace sluice {
namespace {

OP(Lgamma, "Computes the logarithm of the absolute value of the gamma function.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(ChainRule([](Backprop& b, Output grad) { return grad * Digamma(b.Value("x")); }));

OP(Digamma, "Computes the derivative of Lgamma.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT([](Backprop& b) {
      Output x = b.Value("x");
      if (const DataType type = BaseType(x.dtype()); type != DT_FLOAT && type != DT_DOUBLE) {
        return b.Fail(InvalidArgument("the gradient is Polygamma, of float or double, got ",
                                      DataTypeName(type)));
      }
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * Polygamma(NumberLike(x, 1), x));
    });

OP(Polygamma, "Computes the a-th derivative of Digamma, for integers a >= 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndDouble(), "a", "x"}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output a = b.Value("a"), x = b.Value("x");
      Output x_shape = ShapeOf(x);
      Output axes = BroadcastGradientArgs(ShapeOf(a), x_shape).r1;
      ControlDependencies after(b.graph(), {grad});
      Output by_x = Polygamma(a + 1, x);
      b.Into("x", Reshape(Sum(by_x * grad, axes), x_shape));
    });

OP(Zeta, "Computes the Hurwitz zeta function, the sum of (q + k)^-x over k = 0, 1, … Broadcasts.")
    .With(BinaryElementwise{FloatAndDouble(), "x", "q"}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output x = b.Value("x"), q = b.Value("q");
      Output q_shape = ShapeOf(q);
      Output axes = BroadcastGradientArgs(ShapeOf(x), q_shape).r1;
      ControlDependencies after(b.graph(), {grad});
      Output minus = -x;
      Output by_q = minus * Zeta(x + 1, q);
      b.Into("q", Reshape(Sum(by_q * grad, axes), q_shape));
    });

}  // namespace
}  // namespace sluice
