// Running sums, products and log-sum-exps along one axis.
//
// exclusive: an element's result does not include the element itself. reverse: from the end.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#include "ops/math/exponential_builders.h"
#include "ops/reduce/scan_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
// log of grad's positive part (or of -grad's), the lowest number where there is none.
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

OP(Cumsum, "Running sums along `axis`.")
    .Input("x", "T")
    .Input("axis", "Tidx")
    .Output("out", "T")
    .Attr("exclusive", BoolAttr(false))
    .Attr("reverse", BoolAttr(false))
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      b.Into("x",
             Cumsum(b.Of("out"), b.Value("axis"),
                    {.exclusive = b.attr<bool>("exclusive"), .reverse = !b.attr<bool>("reverse")}));
    });

OP(Cumprod, "Running products along `axis`.")
    .Input("x", "T")
    .Input("axis", "Tidx")
    .Output("out", "T")
    .Attr("exclusive", BoolAttr(false))
    .Attr("reverse", BoolAttr(false))
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      const bool exclusive = b.attr<bool>("exclusive"), reverse = b.attr<bool>("reverse");
      Output x = b.Value("x"), axis = b.Value("axis"), grad = b.Of("out");
      Output products = Cumprod(x, axis, {.exclusive = exclusive, .reverse = reverse});
      Output sums = Cumsum(products * grad, axis, {.exclusive = exclusive, .reverse = !reverse});
      b.Into("x", DivNoNan(sums, x));
    });

OP(CumulativeLogsumexp, "Running log(sum(exp(x))) along `axis`, without overflow.")
    .Input("x", "T")
    .Input("axis", "Tidx")
    .Output("out", "T")
    .Attr("exclusive", BoolAttr(false))
    .Attr("reverse", BoolAttr(false))
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("Tidx", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) {
      const bool exclusive = b.attr<bool>("exclusive"), reverse = b.attr<bool>("reverse");
      Output x = b.Value("x"), axis = b.Value("axis"), y = b.Value("out"), grad = b.Of("out");
      // Positive and negative gradients apart, in the log domain.
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
