// Functions of the parts of numbers.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/complex_builders.h"
#include "ops/math/power_builders.h"
#endif

namespace sluice {
namespace {

OP(Angle, "The angle of complex numbers in the plane, in (-pi, pi].")
    .Input("input", "T")
    .Output("output", "Tout")
    .Attr("T", TypeAttr(ComplexTypes(), DT_COMPLEX64))
    .Attr("Tout", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output"), x = b.Value("input");
      ControlDependencies after(b.graph(), {grad});
      const DataType part = grad.dtype();
      Output z = Reciprocal(
          Complex(Imag(x, {.Tout = part}), Real(x, {.Tout = part}), {.Tout = x.dtype()}));
      b.Into("input", -Complex(grad, ZerosLike(grad), {.Tout = x.dtype()}) * z);
    });

OP(NextAfter, "The number next to x1 on the way to x2. Broadcasts.")
    .Input("x1", "T")
    .Input("x2", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_DOUBLE, DT_FLOAT}, DT_FLOAT))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("output");
      ControlDependencies after(b.graph(), {grad});
      IntoBroadcast(b, grad, ZerosLike(grad));
    });

}  // namespace
}  // namespace sluice
