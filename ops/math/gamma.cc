// The gamma function's relatives that its derivatives lead to.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/gamma_builders.h"
#endif

namespace sluice {
namespace {

OP(Lgamma, "The logarithm of the absolute value of the gamma function.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * Digamma(b.Value("x")));
    });

OP(Digamma, "The derivative of Lgamma.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output x = b.Value("x");
      if (const DataType type = BaseType(x.dtype()); type != DT_FLOAT && type != DT_DOUBLE) {
        return b.Fail(InvalidArgument("the gradient is Polygamma, of float or double, got ",
                                      DataTypeName(type)));
      }
      Output grad = b.Of("y");
      ControlDependencies after(b.graph(), {grad});
      b.Into("x", grad * Polygamma(NumberLike(x, 1), x));
    });

OP(Polygamma, "The a-th derivative of Digamma, for whole a >= 0. Broadcasts.")
    .Input("a", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr({DT_FLOAT, DT_DOUBLE}))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output a = b.Value("a"), x = b.Value("x");
      Output x_shape = ShapeOf(x);
      Output axes = BroadcastGradientArgs(ShapeOf(a), x_shape).r1;
      ControlDependencies after(b.graph(), {grad});
      Output by_x = Polygamma(a + 1, x);
      b.Into("x", Reshape(Sum(by_x * grad, axes), x_shape));
    });

OP(Zeta, "Hurwitz's zeta function: the sum of (q + k)^-x over k = 0, 1, … Broadcasts.")
    .Input("x", "T")
    .Input("q", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr({DT_FLOAT, DT_DOUBLE}))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
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
