// Strings against patterns, in RE2's syntax.

#include "ops/op.h"

namespace sluice {
namespace {

OP(RegexFullMatch, "Whether all of each element matches `pattern`, a scalar.")
    .Input("input", DT_STRING)
    .Input("pattern", DT_STRING)
    .Output("output", DT_BOOL)
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      return c.SetOutput(0, c.input(0));
    });

OP(StaticRegexFullMatch, "Whether all of each element matches `pattern`.")
    .Input("input", DT_STRING)
    .Output("output", DT_BOOL)
    .Attr("pattern", StringAttr())
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
