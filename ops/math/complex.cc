// Complex numbers: made, taken apart, conjugated.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/complex_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
DataType RealPartType(DataType complex) {
  return BaseType(complex) == DT_COMPLEX128 ? DT_DOUBLE : DT_FLOAT;
}

Output MakeComplex(Output re, Output im) {
  return Complex(re, im,
                 {.Tout = BaseType(re.dtype()) == DT_DOUBLE ? DT_COMPLEX128 : DT_COMPLEX64});
}
#endif

OP(Complex, "real + i * imag. Broadcasts.")
    .Input("real", "T")
    .Input("imag", "T")
    .Output("out", "Tout")
    .Attr("T", TypeAttr({DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Attr("Tout", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("out");
      const DataType part = RealPartType(grad.dtype());
      Output gx = Real(grad, {.Tout = part});
      Output gy = Imag(grad, {.Tout = part});
      IntoBroadcast(b, gx, gy);
    });

OP(Real, "The real part.")
    .Input("input", "T")
    .Output("output", "Tout")
    .Attr("T", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Attr("Tout", TypeAttr({DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("input", MakeComplex(grad, NumberLike(grad, 0)));
    });

OP(Imag, "The imaginary part.")
    .Input("input", "T")
    .Output("output", "Tout")
    .Attr("T", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Attr("Tout", TypeAttr({DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      b.Into("input", MakeComplex(NumberLike(grad, 0), grad));
    });

OP(Conj, "The complex conjugate.")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(ComplexTypes() | TypeSet{DT_VARIANT}, DT_COMPLEX64))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { b.Into("input", ConjOf(b.Of("output"))); });

OP(ComplexAbs, "The absolute value of complex numbers, a real tensor.")
    .Input("x", "T")
    .Output("y", "Tout")
    .Attr("T", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Attr("Tout", TypeAttr({DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("y"), y = b.Value("y");
      Output towards_x = MakeComplex(grad, ZerosLike(grad)) * b.Value("x");
      b.Into("x", DivNoNan(towards_x, MakeComplex(y, ZerosLike(y))));
    });

}  // namespace
}  // namespace sluice
