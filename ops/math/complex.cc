// Ops that make complex numbers, and ops that return their parts, absolute value and angle.
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/complex_builders.h"
#include "ops/math/power_builders.h"
#endif

namespace sluice {
namespace {

// Declares the attributes of a function of a complex tensor whose result is real.
void RealResult(OpDefBuilder& op) {
  op.Attr("T", TypeAttr(ComplexTypes(), DT_COMPLEX64));
  op.Attr("Tout", TypeAttr(FloatAndDouble(), DT_FLOAT)).With(ElementByElement);
}

void PartOp(OpDefBuilder& op) { op.Input("input", "T").Output("output", "Tout").With(RealResult); }

#ifndef SLUICE_DEFINITIONS_ONLY
DataType RealPartType(DataType complex) {
  return BaseType(complex) == DT_COMPLEX128 ? DT_DOUBLE : DT_FLOAT;
}

Output MakeComplex(Output re, Output im) {
  return Complex(re, im,
                 {.Tout = BaseType(re.dtype()) == DT_DOUBLE ? DT_COMPLEX128 : DT_COMPLEX64});
}
#endif

OP(Complex, "Makes complex numbers of real and imaginary parts. Broadcasts.")
    .Input("real", "T")
    .Input("imag", "T")
    .Output("out", "Tout")
    .Attr("T", TypeAttr(FloatAndDouble(), DT_FLOAT))
    .Attr("Tout", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .With(ElementsBroadcast)
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("out");
      const DataType part = RealPartType(grad.dtype());
      Output gx = Real(grad, {.Tout = part});
      Output gy = Imag(grad, {.Tout = part});
      IntoBroadcast(b, gx, gy);
    });

OP(Real, "Returns the real part of each element.").With(PartOp) GRADIENT([](Backprop& b) {
  Output grad = b.Of("output");
  b.Into("input", MakeComplex(grad, NumberLike(grad, 0)));
});

OP(Imag, "Returns the imaginary part of each element.").With(PartOp) GRADIENT([](Backprop& b) {
  Output grad = b.Of("output");
  b.Into("input", MakeComplex(NumberLike(grad, 0), grad));
});

OP(Conj, "Returns the complex conjugate of each element.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(ComplexTypes() | TypeSet{DT_VARIANT}, DT_COMPLEX64))
    .Undoes([](const Node&, const Node&) { return true; })
    .With(ElementByElement) GRADIENT([](Backprop& b) { b.Into("input", ConjOf(b.Of("output"))); });

OP(ComplexAbs, "Computes the absolute value of each complex element, a real tensor.")
    .Input("x", "T")
    .Output("y", "Tout")
    .With(RealResult) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y"), y = b.Value("y");
      Output towards_x = MakeComplex(grad, ZerosLike(grad)) * b.Value("x");
      b.Into("x", DivNoNan(towards_x, MakeComplex(y, ZerosLike(y))));
    });

OP(Angle, "Computes the angle of each complex element in radians, in (-pi, pi].")
    .With(PartOp) GRADIENT(ChainRule([](Backprop& b, Output grad) {
      Output x = b.Value("input");
      const DataType part = grad.dtype();
      Output z = Reciprocal(
          Complex(Imag(x, {.Tout = part}), Real(x, {.Tout = part}), {.Tout = x.dtype()}));
      return -Complex(grad, ZerosLike(grad), {.Tout = x.dtype()}) * z;
    }));

}  // namespace
}  // namespace sluice
