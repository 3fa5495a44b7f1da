// Ops that match strings with regular expressions in RE2's syntax.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Checks that the string inputs after the first one are scalars.
absl::Status MatchShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return c.SetOutput(0, c.input(0));
}

OP(RegexFullMatch, "Returns whether each whole string matches `pattern`, a scalar.")
    .With(Inputs({"input", "pattern"}, DT_STRING))
    .Output("output", DT_BOOL)
    .Shape(MatchShape);

OP(RegexReplace,
   "Replaces what matches `pattern` in each string by `rewrite`, in which \\\\1 is what the first "
   "group matched. Replaces all matches, or the first one.")
    .With(Inputs({"input", "pattern", "rewrite"}, DT_STRING))
    .Output("output", DT_STRING)
    .Attr("replace_global", BoolAttr(true))
    .NotDifferentiable()
    .Shape(MatchShape);

OP(StaticRegexFullMatch, "RegexFullMatch with the pattern as an attribute.")
    .Input("input", DT_STRING)
    .Output("output", DT_BOOL)
    .Attr("pattern", StringAttr())
    .Shape(MatchShape);

OP(StaticRegexReplace, "RegexReplace with the pattern and the rewrite as attributes.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .With(Attrs({"pattern", "rewrite"}, StringAttr()))
    .Attr("replace_global", BoolAttr(true))
    .Shape(MatchShape);

}  // namespace
}  // namespace sluice
