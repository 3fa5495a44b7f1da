// Strings, cut into parts.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status SplitShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Matrix(-1, 2)));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, PartialShape::Vector()));
  return c.SetOutput(2, PartialShape::Vector(2));
}

absl::Status NGramsShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape splits, c.WithRank(1, 1));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, PartialShape::Vector()));
  return c.SetOutput(1, splits);
}

OP(StringNGrams,
   "Runs of `ngram_widths` neighbours in each row of a ragged matrix, joined by `separator`. Rows "
   "are "
   "padded at both ends with up to `pad_width` of `left_pad` and `right_pad` (-1: as many as a run "
   "can take). With `preserve_short_sequences` a row that is too short for any run makes one.")
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
   "Parts of each string as a sparse matrix, a row a string. Split at any character of "
   "`delimiter`; into bytes where it is empty.")
    .Input("input", DT_STRING)
    .Input("delimiter", DT_STRING)
    .Output("indices", DT_INT64)
    .Output("values", DT_STRING)
    .Output("shape", DT_INT64)
    .Attr("skip_empty", BoolAttr(true))
    .NotDifferentiable()
    .Shape(SplitShape);

OP(StringSplitV2,
   "Parts of each string as a sparse matrix, a row a string. Split at `sep`, at most `maxsplit` "
   "times; at runs of blanks where it is empty.")
    .Input("input", DT_STRING)
    .Input("sep", DT_STRING)
    .Output("indices", DT_INT64)
    .Output("values", DT_STRING)
    .Output("shape", DT_INT64)
    .Attr("maxsplit", IntAttr(-1))
    .Shape(SplitShape);

}  // namespace
}  // namespace sluice
