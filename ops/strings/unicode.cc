// Text in the encodings of the world, by ICU.

#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DecodeShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const int64_t rows = input.num_elements();  // -1 too where there are too many
  SLUICE_RETURN_IF_ERROR(c.SetOutputs(PartialShape::Vector()));
  return c.SetOutput(0, PartialShape::Vector(rows < 0 ? -1 : SaturatedSum(rows, 1)));
}

absl::Status EncodeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape splits, c.WithRank(1, 1));
  return c.SetOutput(0, PartialShape::Vector(splits.dim(0) > 0 ? splits.dim(0) - 1 : -1));
}

OP(UnicodeDecode,
   "The characters of each string as numbers, a row of a ragged matrix a string. What is no text "
   "in "
   "`input_encoding` becomes `replacement_char`, is left out, or is an error, as `errors` says.")
    .Input("input", DT_STRING)
    .Output("row_splits", "Tsplits")
    .Output("char_values", DT_INT32)
    .Attr("input_encoding", StringAttr())
    .Attr("errors", OneOf({"strict", "replace", "ignore"}, "replace"))
    .Attr("replacement_char", IntAttr(65533))
    .Attr("replace_control_characters", BoolAttr(false))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(DecodeShape);

OP(UnicodeDecodeWithOffsets, "UnicodeDecode, and where in its string each character begins.")
    .Input("input", DT_STRING)
    .Output("row_splits", "Tsplits")
    .Output("char_values", DT_INT32)
    .Output("char_to_byte_starts", DT_INT64)
    .Attr("input_encoding", StringAttr())
    .Attr("errors", OneOf({"strict", "replace", "ignore"}, "replace"))
    .Attr("replacement_char", IntAttr(65533))
    .Attr("replace_control_characters", BoolAttr(false))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(DecodeShape);

OP(UnicodeEncode,
   "A string of each row of a ragged matrix of characters. What is no character becomes "
   "`replacement_char`, is left out, or is an error, as `errors` says.")
    .Input("input_values", DT_INT32)
    .Input("input_splits", "Tsplits")
    .Output("output", DT_STRING)
    .Attr("errors", OneOf({"ignore", "replace", "strict"}, "replace"))
    .Attr("output_encoding", OneOf({"UTF-8", "UTF-16-BE", "UTF-32-BE"}))
    .Attr("replacement_char", IntAttr(65533))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(EncodeShape);

OP(UnicodeScript, "The script that each character belongs to, by ICU's numbers; -1 of none.")
    .Input("input", DT_INT32)
    .Output("output", DT_INT32)
    .Shape(SameAsInput(0));

OP(UnicodeTranscode,
   "Each string in another encoding. What is no text in `input_encoding` becomes "
   "`replacement_char`, is left out, or is an error, as `errors` says.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("input_encoding", StringAttr())
    .Attr("output_encoding", OneOf({"UTF-8", "UTF-16-BE", "UTF-32-BE"}))
    .Attr("errors", OneOf({"strict", "replace", "ignore"}, "replace"))
    .Attr("replacement_char", IntAttr(65533))
    .Attr("replace_control_characters", BoolAttr(false))
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
