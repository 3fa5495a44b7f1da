// Quotients and remainders, element by element.
//
// Errors: INVALID_ARGUMENT "Integer division by zero".
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// grad / y and -grad * x / y / y.
void QuotientGradient(Backprop& b, Output (*divide)(Output, Output)) {
  Output grad = b.Of("z");
  Output x = ConjOf(b.Value("x"));
  Output y = ConjOf(b.Value("y"));
  Output gx = divide(grad, y);
  Output gy = grad * divide(divide(-x, y), y);
  IntoBroadcast(b, gx, gy);
}

void RealDivGradient(Backprop& b) {
  QuotientGradient(b, [](Output x, Output y) { return RealDiv(x, y); });
}
#endif

OP(RealDiv, "Divides real or complex x by y. Broadcasts.")
    .With(BinaryElementwise{Numbers()}) GRADIENT(RealDivGradient);

OP(Div, "Divides x by y. Integer quotients are rounded towards zero. Broadcasts.")
    .With(BinaryElementwise{Numbers()}) GRADIENT(RealDivGradient);

OP(DivNoNan, "Divides x by y. Returns 0 if y is 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()}) GRADIENT([](Backprop& b) {
      QuotientGradient(b, [](Output x, Output y) { return DivNoNan(x, y); });
    });

OP(FloorDiv, "Divides x by y and rounds down, as Python's `//`. Broadcasts.")
    .With(BinaryElementwise{Numbers()}) GRADIENT([](Backprop&) {});

OP(FloorMod, "Computes x - FloorDiv(x, y) * y, the remainder with the sign of y. Broadcasts.")
    .With(BinaryElementwise{RealTypes()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output quotient = FloorDiv(b.Value("x"), b.Value("y"));
      IntoBroadcast(b, grad, grad * Neg(quotient));
    });

OP(Mod, "Computes the remainder with the sign of x, as C++'s `%`. Broadcasts.")
    .With(BinaryElementwise{FloatTypes() | IndexTypes()});

OP(TruncateDiv, "Divides x by y and rounds towards zero. Broadcasts.")
    .With(BinaryElementwise{Numbers()}) GRADIENT([](Backprop&) {});

OP(TruncateMod, "Computes x - TruncateDiv(x, y) * y, the remainder with the sign of x. Broadcasts.")
    .With(BinaryElementwise{FloatTypes() | IndexTypes()});

}  // namespace
}  // namespace sluice
