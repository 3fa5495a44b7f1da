// Ops that check values and print them.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/control/check_builders.h"
#endif

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
std::string GradientMessage(const Backprop& b) {
  return StrCat("Not a number (NaN) or infinity (Inf) values detected in gradient. ",
                b.attr<std::string>("message"));
}
#endif

OP(Assert,
   "Fails the step unless `condition` is true. The error shows up to `summarize` elements of each "
   "of `data`.")
    .Input("condition", DT_BOOL)
    .Input("data", "T")
    .Attr("T", TypeListAttr().Min(1))
    .Attr("summarize", IntAttr(3))
    .Stateful()
    .NotDifferentiable()
    .Repeatable()
    .Shape([](ShapeContext& c) { return c.WithRank(0, 0).status(); });

void ChecksNumerics(OpDefBuilder& op) {
  op.Input("tensor", "T")
      .Output("output", "T")
      .Attr("T", TypeAttr(FloatTypes()))
      .Attr("message", StringAttr())
      .Stateful()
      .Shape(SameAsInput(0));
}

OP(CheckNumerics, "Returns `tensor`, or fails if it contains an infinity or a NaN.")
    .With(ChecksNumerics)
    .Impure(Impurity::kCheck)
        GRADIENT([](Backprop& b) { b.Into("tensor", CheckNumerics(b.Of(0), GradientMessage(b))); });

OP(CheckNumericsV2, "CheckNumerics that distinguishes positive and negative infinities.")
    .With(ChecksNumerics) GRADIENT([](Backprop& b) {
      b.Into("tensor", CheckNumericsV2(b.Of(0), GradientMessage(b)));
    });

OP(Print,
   "Returns `input`. Writes `message` and up to `summarize` elements of each of `data` to standard "
   "error, the first `first_n` times (-1: always).")
    .Input("input", "T")
    .Input("data", "U")
    .Output("output", "T")
    .Attr("T", TypeAttr())
    .Attr("U", TypeListAttr().Min(0))
    .Attr("message", StringAttr(""))
    .Attr("first_n", IntAttr(-1))
    .Attr("summarize", IntAttr(3))
    .Stateful()
    .Shape(SameAsInput(0)) GRADIENT([](Backprop& b) { b.Into("input", b.GradOf(0)); });

OP(PrintV2,
   "Writes a string and `end` to `output_stream`: stdout, stderr, log(info), log(warning) or "
   "log(error). Appends to a file if it is file://PATH.")
    .Input("input", DT_STRING)
    .Attr("output_stream", StringAttr("stderr"))
    .Attr("end", StringAttr("\n"))
    .Stateful()
    .Shape([](ShapeContext& c) -> absl::Status {
      const std::string& stream = c.attr<std::string>("output_stream");
      for (const char* name : {"stdout", "stderr", "log(info)", "log(warning)", "log(error)"}) {
        if (stream == name) return c.WithRank(0, 0).status();
      }
      if (stream.starts_with("file://")) return c.WithRank(0, 0).status();
      return InvalidArgument(
          "Unknown output stream: ", stream,
          ", must be stdout, stderr, log(info), log(warning), log(error) or file://PATH");
    });

OP(Timestamp, "Returns the time in seconds since 1970.")
    .Output("ts", DT_DOUBLE)
    .Stateful()
    .NotDifferentiable()
    .Shape(ScalarOutput());

}  // namespace
}  // namespace sluice
