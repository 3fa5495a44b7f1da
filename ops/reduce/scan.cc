// Ops for running sums, products and log-sum-exps along one axis.
//
// If `exclusive` is set, the result for an element does not include the element. If `reverse` is
// set, scans start at the end of the axis.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/math/exponential_builders.h"
#include "ops/reduce/scan_builders.h"
#endif

namespace sluice {
namespace {

struct ScanOf {
  TypeSet types;
  void operator()(OpDefBuilder& op) const {
    op.Input("x", "T").Input("axis", "Tidx").Output("out", "T");
    op.Attr("exclusive", BoolAttr(false)).Attr("reverse", BoolAttr(false));
    op.Attr("T", TypeAttr(types)).Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32));
    op.Shape(SameAsInput(0));
  }
};

#ifndef SLUICE_DEFINITIONS_ONLY
// Returns the logarithm of the positive elements of `grad` (or of the negative ones, negated), and
// the lowest number for all other elements.
Output LogOfPart(Output grad, bool positive) {
  const double lowest = BaseType(grad.dtype()) == DT_HALF       ? -65504.0
                        : BaseType(grad.dtype()) == DT_BFLOAT16 ? -0x1.fep127
                        : BaseType(grad.dtype()) == DT_FLOAT    ? -0x1.fffffep127
                                                                : -0x1.fffffffffffffp1023;
  Output zero = NumberLike(grad, 0, positive ? "Greater/y" : "Less/y");
  Output holds = positive ? Greater(grad, zero) : Less(grad, zero);
  Output log = positive ? Log(grad) : Log(-grad);
  return SelectV2(holds, log, NumberLike(grad, lowest, "SelectV2/e"));
}
#endif

OP(Cumsum, "Computes running sums along `axis`.")
    .With(ScanOf{NumberTypes()}) GRADIENT([](Backprop& b) {
      b.Into("x",
             Cumsum(b.Of("out"), b.Value("axis"),
                    {.exclusive = b.attr<bool>("exclusive"), .reverse = !b.attr<bool>("reverse")}));
    });

OP(Cumprod, "Computes running products along `axis`.")
    .With(ScanOf{NumberTypes()}) GRADIENT([](Backprop& b) {
      const bool exclusive = b.attr<bool>("exclusive"), reverse = b.attr<bool>("reverse");
      Output x = b.Value("x"), axis = b.Value("axis"), grad = b.Of("out");
      Output products = Cumprod(x, axis, {.exclusive = exclusive, .reverse = reverse});
      Output sums = Cumsum(products * grad, axis, {.exclusive = exclusive, .reverse = !reverse});
      b.Into("x", DivNoNan(sums, x));
    });

OP(CumulativeLogsumexp, "Computes running log(sum(exp(x))) along `axis` without overflow.")
    .With(ScanOf{FloatTypes()}) GRADIENT([](Backprop& b) {
      const bool exclusive = b.attr<bool>("exclusive"), reverse = b.attr<bool>("reverse");
      Output x = b.Value("x"), axis = b.Value("axis"), y = b.Value("out"), grad = b.Of("out");
      // Works on the logarithms of positive and negative gradients separately.
      auto part = [&](bool positive) {
        Output log = LogOfPart(grad, positive);
        return Exp(
            CumulativeLogsumexp(log - y, axis, {.exclusive = exclusive, .reverse = !reverse}) + x);
      };
      Output positive = part(true);
      b.Into("x", positive - part(false));
    });

}  // namespace
}  // namespace sluice
