// Quotients and remainders, element by element; shapes broadcast.
//
// Dividing integers by zero is an error: "Integer division by zero".
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// grad / y and -grad * x / y / y, with the op's own way to divide.
void QuotientGradient(Backprop& b, Output (*divide)(Output, Output)) {
  Output grad = b.Of("z");
  Output x = ConjOf(b.Value("x"));
  Output y = ConjOf(b.Value("y"));
  Output gx = divide(grad, y);
  Output gy = grad * divide(divide(-x, y), y);
  IntoBroadcast(b, gx, gy);
}
#endif

OP(RealDiv, "x / y of real or complex numbers. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      QuotientGradient(b, [](Output x, Output y) { return RealDiv(x, y); });
    });

OP(Div, "x / y; of integers the quotient without its fraction, as C++ divides. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      QuotientGradient(b, [](Output x, Output y) { return RealDiv(x, y); });
    });

OP(DivNoNan, "x / y, and 0 where y is 0. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | ComplexTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      QuotientGradient(b, [](Output x, Output y) { return DivNoNan(x, y); });
    });

OP(FloorDiv, "The quotient rounded down, as Python divides with `//`. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop&) {});

OP(FloorMod, "The remainder with the sign of y: x - FloorDiv(x, y) * y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(RealTypes()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output quotient = FloorDiv(b.Value("x"), b.Value("y"));
      IntoBroadcast(b, grad, grad * Neg(quotient));
    });

OP(Mod, "The remainder with the sign of x, as C++ gives it. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | IndexTypes()))
    .Shape(BroadcastBinary());

OP(TruncateDiv, "The quotient without its fraction. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(Numbers()))
    .Shape(BroadcastBinary()) GRADIENT([](Backprop&) {});

OP(TruncateMod, "The remainder with the sign of x: x - TruncateDiv(x, y) * y. Broadcasts.")
    .Input("x", "T")
    .Input("y", "T")
    .Output("z", "T")
    .Attr("T", TypeAttr(FloatTypes() | IndexTypes()))
    .Shape(BroadcastBinary());

}  // namespace
}  // namespace sluice
