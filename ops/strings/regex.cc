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

OP(RegexReplace,
   "Each element with what matches `pattern` replaced by `rewrite`, in which \\\\1 stands for what "
   "the first group matched; everywhere, or at the first place alone.")
    .Input("input", DT_STRING)
    .Input("pattern", DT_STRING)
    .Input("rewrite", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("replace_global", BoolAttr(true))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      return c.SetOutput(0, c.input(0));
    });

OP(StaticRegexFullMatch, "Whether all of each element matches `pattern`.")
    .Input("input", DT_STRING)
    .Output("output", DT_BOOL)
    .Attr("pattern", StringAttr())
    .Shape(SameAsInput(0));

OP(StaticRegexReplace,
   "Each element with what matches `pattern` replaced by `rewrite`, in which \\\\1 stands for what "
   "the first group matched; everywhere, or at the first place alone.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("pattern", StringAttr())
    .Attr("rewrite", StringAttr())
    .Attr("replace_global", BoolAttr(true))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
