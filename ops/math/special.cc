// Special functions, element by element.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/exponential_builders.h"
#include "ops/math/gamma_builders.h"
#include "ops/math/power_builders.h"
#include "ops/math/rounding_builders.h"
#include "ops/math/special_builders.h"
#include "ops/math/trigonometric_builders.h"
#include "ops/shape_nodes.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
Output HalfLike(Output x) { return Constant(*x.graph(), 0.5, x.dtype()); }

// A gradient of x and y = f(x), once `grad` is there.
template <typename F>
GradientFunction OfXAndY(const F& f) {
  return [f](Backprop& b) {
    Output grad = b.Of("y");
    ControlDependencies after(b.graph(), {grad});
    b.Into("x", f(grad, b.Value("x"), b.Value("y")));
  };
}

// Source: Figurnov, Mohamed and Mnih (2018) for the derivative by a.
void IncompleteGamma(Backprop& b, bool upper) {
  Output grad = b.Of("z"), a = b.Value("a"), x = b.Value("x");
  ControlDependencies after(b.graph(), {grad});
  Output by_a = IgammaGradA(a, x);
  Output by_x = Exp(-x + (a - 1.0) * Log(x) - Lgamma(a));
  IntoBroadcast(b, upper ? -(by_a * grad) : by_a * grad, upper ? -(by_x * grad) : by_x * grad);
}
#endif

OP(BesselI0, "The modified Bessel function of the first kind and order 0.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0))
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * BesselI1(x); }));

OP(BesselI0e, "BesselI0(x) * exp(-|x|).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (BesselI1e(x) - Sign(x) * y);
    }));

OP(BesselI1, "The modified Bessel function of the first kind and order 1.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), OnesLike(x), BesselI0(x) - Div(y, x));
    }));

OP(BesselI1e, "BesselI1(x) * exp(-|x|).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), HalfLike(x),
                             BesselI0e(x) - y * (Sign(x) + Reciprocal(x)));
    }));

OP(BesselJ0, "The Bessel function of the first kind and order 0.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0))
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselJ1(x); }));

OP(BesselJ1, "The Bessel function of the first kind and order 1.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, ZerosLike(x)), HalfLike(x), BesselJ0(x) - Div(y, x));
    }));

OP(BesselK0, "The modified Bessel function of the second kind and order 0.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0))
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselK1(x); }));

OP(BesselK0e, "BesselK0(x) * exp(x).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (y - BesselK1e(x));
    }));

OP(BesselK1, "The modified Bessel function of the second kind and order 1.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (-BesselK0(x) - Div(y, x));
    }));

OP(BesselK1e, "BesselK1(x) * exp(x).")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (y * (1.0 - Reciprocal(x)) - BesselK0e(x));
    }));

OP(BesselY0, "The Bessel function of the second kind and order 0.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0))
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * -BesselY1(x); }));

OP(BesselY1, "The Bessel function of the second kind and order 1.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (BesselY0(x) - Div(y, x));
    }));

OP(Betainc, "The regularised incomplete beta function. Arguments have one shape; scalars fit any.")
    .Input("a", "T")
    .Input("b", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}))
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

OP(Dawsn, "Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * (1.0 - 2.0 * x * y);
    }));

OP(Erfinv, "The inverse of Erf.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * 0.8862269254527580 * Exp(Square(y));
    }));

OP(Expint, "The exponential integral Ei(x) of positive numbers.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0))
        GRADIENT(OfXAndY([](Output grad, Output x, Output y) { return grad * Exp(x) / x; }));

OP(FresnelCos, "Fresnel's integral of cos(pi t^2 / 2) from 0 to x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * Cos(1.5707963267948966 * Square(x));
    }));

OP(FresnelSin, "Fresnel's integral of sin(pi t^2 / 2) from 0 to x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * Sin(1.5707963267948966 * Square(x));
    }));

OP(Igamma, "The lower regularised incomplete gamma function. Broadcasts.")
    .Input("a", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) { IncompleteGamma(b, false); });

OP(IgammaGradA, "The derivative of Igamma by a. Broadcasts.")
    .Input("a", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}))
    .Shape(BroadcastBinary());

OP(Igammac, "The upper regularised incomplete gamma function. Broadcasts.")
    .Input("a", "T")
    .Input("x", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) { IncompleteGamma(b, true); });

OP(Ndtri, "The inverse of the normal distribution's cumulative function.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * 2.5066282746310002 * Exp(Square(y) / 2.0);
    }));

OP(Spence, "Spence's integral: minus the integral of log(t) / (t - 1) from 1 to x.")
    .Input("x", "T")
    .Output("y", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Shape(SameAsInput(0)) GRADIENT(OfXAndY([](Output grad, Output x, Output y) {
      return grad * SelectV2(Equal(x, OnesLike(x)), -OnesLike(x), Log(x) / (1.0 - x));
    }));

}  // namespace
}  // namespace sluice
