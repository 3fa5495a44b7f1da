// Elementwise special functions.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/exponential_builders.h"
#include "ops/math/gamma_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/math/special_builders.h"
#include "ops/math/trigonometric_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
Output HalfLike(Output x) { return Constant(*x.graph(), 0.5, x.dtype()); }

// Like ChainRule, for gradients that depend on x and y = f(x).
GradientFunction OfXAndY(Output (*derivative)(Output grad, Output x, Output y)) {
  return [derivative](Backprop& b) {
    Output grad = b.Of("y");
    ControlDependencies after(b.graph(), {grad});
    b.Into("x", derivative(grad, b.Value("x"), b.Value("y")));
  };
}

// Adds the gradients of Igamma, or of Igammac if `upper` is true. Reference for the derivative with
// respect to a: Figurnov, Mohamed and Mnih (2018).
void IncompleteGamma(Backprop& b, bool upper) {
  Output grad = b.Of("z"), a = b.Value("a"), x = b.Value("x");
  ControlDependencies after(b.graph(), {grad});
  Output partial_a = IgammaGradA(a, x);
  Output partial_x = Exp(-x + (a - 1.0) * Log(x) - Lgamma(a));
  Output ga = partial_a * grad, gx = partial_x * grad;
  IntoBroadcast(b, upper ? -ga : ga, upper ? -gx : gx);
}
#endif

OP(BesselI0, "Computes the modified Bessel function of the first kind and order 0.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * BesselI1(x); }));

OP(BesselI0e, "Computes BesselI0(x) * exp(-|x|).")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (BesselI1e(x) - Sign(x) * y);
    }));

OP(BesselI1, "Computes the modified Bessel function of the first kind and order 1.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), OnesLike(x), BesselI0(x) - Div(y, x));
    }));

OP(BesselI1e, "Computes BesselI1(x) * exp(-|x|).")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), HalfLike(x),
                             BesselI0e(x) - y * (Sign(x) + Reciprocal(x)));
    }));

OP(BesselJ0, "Computes the Bessel function of the first kind and order 0.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselJ1(x); }));

OP(BesselJ1, "Computes the Bessel function of the first kind and order 1.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), HalfLike(x), BesselJ0(x) - Div(y, x));
    }));

OP(BesselK0, "Computes the modified Bessel function of the second kind and order 0.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselK1(x); }));

OP(BesselK0e, "Computes BesselK0(x) * exp(x).")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (y - BesselK1e(x));
    }));

OP(BesselK1, "Computes the modified Bessel function of the second kind and order 1.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (-BesselK0(x) - Div(y, x));
    }));

OP(BesselK1e, "Computes BesselK1(x) * exp(x).")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (y * (1.0 - Reciprocal(x)) - BesselK0e(x));
    }));

OP(BesselY0, "Computes the Bessel function of the second kind and order 0.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselY1(x); }));

OP(BesselY1, "Computes the Bessel function of the second kind and order 1.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (BesselY0(x) - Div(y, x));
    }));

OP(Betainc,
   "Computes the regularized incomplete beta function. Inputs that are not scalars have equal "
   "shapes.")
    .Input("a", "T")
    .Input("b", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatAndDouble()))
    .Shape([](ShapeContext& c) -> absl::Status {
      PartialShape out = PartialShape::Scalar();
      for (int i = 0; i < 3; ++i) {
        const PartialShape& s = c.input(i);
        if (!s.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
        if (s.rank() == 0) continue;
        if (out.rank() == 0) {
          out = s;
        } else {
          SLUICE_ASSIGN_OR_RETURN(out, out.MergeWith(s));
        }
      }
      return c.SetOutput(0, out);
    }) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z"), p = b.Value("a"), q = b.Value("b"), x = b.Value("x");
      Output log_beta = Lgamma(p) + Lgamma(q) - Lgamma(p + q);
      Output partial = Exp(Xlog1py(q - 1.0, -x) + Xlogy(p - 1.0, x) - log_beta);
      Output shape = ShapeNode(x);
      b.Into("x",
             Reshape(Sum(partial * grad, BroadcastGradientArgs(ShapeNode(p), shape).r1), shape));
    });

OP(Dawsn, "Computes Dawson's integral, exp(-x^2) * integral of exp(t^2) from 0 to x.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (1.0 - 2.0 * x * y);
    }));

OP(Erfinv, "Computes the inverse of Erf.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * 0.8862269254527580 * Exp(Square(y));
    }));

OP(Expint, "Computes the exponential integral Ei(x) of positive numbers.")
    .With(UnaryElementwise{FloatTypes()})
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * Exp(x) / x; }));

OP(FresnelCos, "Computes the Fresnel integral of cos(pi t^2 / 2) from 0 to x.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * Cos(1.5707963267948966 * Square(x));
    }));

OP(FresnelSin, "Computes the Fresnel integral of sin(pi t^2 / 2) from 0 to x.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * Sin(1.5707963267948966 * Square(x));
    }));

OP(Igamma, "Computes the lower regularized incomplete gamma function. Broadcasts.")
    .With(BinaryElementwise{FloatTypes(), "a", "x"})
        GRADIENT([](Backprop& b) { IncompleteGamma(b, false); });

OP(IgammaGradA, "Computes the derivative of Igamma with respect to a. Broadcasts.")
    .With(BinaryElementwise{FloatAndDouble(), "a", "x"});

OP(Igammac, "Computes the upper regularized incomplete gamma function. Broadcasts.")
    .With(BinaryElementwise{FloatTypes(), "a", "x"})
        GRADIENT([](Backprop& b) { IncompleteGamma(b, true); });

OP(Ndtri, "Computes the quantile function of the standard normal distribution.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * 2.5066282746310002 * Exp(Square(y) / 2.0);
    }));

OP(Spence, "Computes Spence's integral, -integral of log(t) / (t - 1) from 1 to x.")
    .With(UnaryElementwise{FloatTypes()}) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, OnesLike(x)), -OnesLike(x), Log(x) / (1.0 - x));
    }));

}  // namespace
}  // namespace sluice
