// Elementwise quotients and remainders.
//
// Errors: INVALID_ARGUMENT "Integer division by zero".
#include "graph/infer/constant_context.h"
#include "ops/math/number_types.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/rounding_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// Adds the gradients of a quotient: grad / y and -grad * x / y / y.
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

std::optional<PartialInts> ValueOfFloorDiv(ConstantContext& c) {
  return c.Broadcast([](int64_t a, int64_t b) -> std::optional<int64_t> {
    if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
  });
}

// Types in which division by 1 keeps the bits of x. Kernels of 16-bit floats replace every NaN by
// the same one.
constexpr TypeSet kWideFloats = FloatAndDouble();

OP(RealDiv, "Divides real or complex x by y. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .Neutral({1.0, kWideFloats}) GRADIENT(RealDivGradient);

OP(Div, "Divides x by y. Integer quotients are rounded towards zero. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .Neutral({1.0, kWideFloats | IntTypes()}) GRADIENT(RealDivGradient);

OP(DivNoNan, "Divides x by y. Returns 0 if y is 0. Broadcasts.")
    .With(BinaryElementwise{FloatAndComplex()})
    .Neutral({1.0, kWideFloats}) GRADIENT([](Backprop& b) {
      QuotientGradient(b, [](Output x, Output y) { return DivNoNan(x, y); });
    });

OP(FloorDiv, "Divides x by y and rounds down, as Python's `//`. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .ConstantValue(ValueOfFloorDiv)
    .Neutral({1.0, IntTypes()}) GRADIENT([](Backprop&) {});

OP(FloorMod, "Computes x - FloorDiv(x, y) * y, the remainder with the sign of y. Broadcasts.")
    .With(BinaryElementwise{RealTypes()}) GRADIENT([](Backprop& b) {
      Output grad = b.Of("z");
      Output quotient = FloorDiv(b.Value("x"), b.Value("y"));
      IntoBroadcast(b, grad, grad * Neg(quotient));
    });

OP(Mod, "Computes the remainder with the sign of x, as C++'s `%`. Broadcasts.")
    .With(BinaryElementwise{FloatTypes() | IndexTypes()});

OP(TruncateDiv, "Divides x by y and rounds towards zero. Broadcasts.")
    .With(BinaryElementwise{Numbers()})
    .Neutral({1.0, IntTypes()}) GRADIENT([](Backprop&) {});

OP(TruncateMod, "Computes x - TruncateDiv(x, y) * y, the remainder with the sign of x. Broadcasts.")
    .With(BinaryElementwise{FloatTypes() | IndexTypes()});

}  // namespace
}  // namespace sluice
