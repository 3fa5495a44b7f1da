// Ops that split strings, and an op that joins neighbouring strings (n-grams).
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Declares an op that splits strings at the separator in input 1. The result is a sparse matrix.
void SplitsStrings(OpDefBuilder& op) {
  op.Output("indices", DT_INT64)
      .Output("values", DT_STRING)
      .Output("shape", DT_INT64)
      .Shape([](ShapeContext& c) {
        SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
        SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
        SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Matrix(-1, 2)));
        SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
        return c.SetOutput(2, PartialShape::Vector(2));
      });
}

absl::Status NGramsShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape splits, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Vector()));
  return c.SetOutput(1, splits);
}

OP(StringNGrams,
   "Joins each sequence of `ngram_widths` neighbours in the rows of a ragged matrix, with "
   "`separator` between. Pads rows at both ends with up to `pad_width` of `left_pad` and "
   "`right_pad` (-1: as many as an n-gram can contain). With `preserve_short_sequences`, a row "
   "that is too short for any n-gram yields one.")
    .Input("data", DT_STRING)
    .Input("data_splits", "Tsplits")
    .Output("ngrams", DT_STRING)
    .Output("ngrams_splits", "Tsplits")
    .Attr("separator", StringAttr())
    .Attr("ngram_widths", IntListAttr().Min(0))
    .Attr("left_pad", StringAttr())
    .Attr("right_pad", StringAttr())
    .Attr("pad_width", IntAttr())
    .Attr("preserve_short_sequences", BoolAttr())
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(NGramsShape);

OP(StringSplit,
   "Splits each string at any character of `delimiter`, or into bytes if it is empty. Returns the "
   "parts as a sparse matrix with one row per string.")
    .With(Inputs({"input", "delimiter"}, DT_STRING))
    .With(SplitsStrings)
    .Attr("skip_empty", BoolAttr(true))
    .NotDifferentiable();

OP(StringSplitV2,
   "Splits each string at `sep`, at most `maxsplit` times, or at sequences of blanks if it is "
   "empty. Returns the parts as a sparse matrix with one row per string.")
    .With(Inputs({"input", "sep"}, DT_STRING))
    .With(SplitsStrings)
    .Attr("maxsplit", IntAttr(-1));

}  // namespace
}  // namespace sluice
