// Ops that decode, encode and convert Unicode text.
#include "graph/tensor/sizes.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status DecodeShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const int64_t rows = input.num_elements();  // -1 also if there are too many
  SLUICE_RETURN_IF_ERROR(c.SetOutputs(PartialShape::Vector()));
  return c.SetOutput(0, PartialShape::Vector(rows < 0 ? -1 : SaturatedSum(rows, 1)));
}

absl::Status EncodeShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape splits, c.WithRank(1, 1));
  return c.SetOutput(0, PartialShape::Vector(splits.dim(0) > 0 ? splits.dim(0) - 1 : -1));
}

// Declares the attributes for the treatment of bytes that cannot be decoded.
void DecodeErrorAttrs(OpDefBuilder& op) {
  op.Attr("errors", OneOf({"strict", "replace", "ignore"}, "replace"))
      .Attr("replacement_char", IntAttr(65533))
      .Attr("replace_control_characters", BoolAttr(false));
}

void DecodesUnicode(OpDefBuilder& op) {
  op.Input("input", DT_STRING)
      .Output("row_splits", "Tsplits")
      .Output("char_values", DT_INT32)
      .Attr("input_encoding", StringAttr())
      .With(DecodeErrorAttrs)
      .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
      .Shape(DecodeShape);
}

OP(UnicodeDecode,
   "Decodes each string to the numbers of its characters, in the rows of a ragged matrix. Text "
   "that is invalid in `input_encoding` is replaced by `replacement_char`, ignored or an error, "
   "depending on `errors`.")
    .With(DecodesUnicode);

OP(UnicodeDecodeWithOffsets,
   "UnicodeDecode that also returns the offset of each character in its string.")
    .With(DecodesUnicode)
    .Output("char_to_byte_starts", DT_INT64);

OP(UnicodeEncode,
   "Encodes each row of a ragged matrix of characters as a string. Invalid characters are replaced "
   "by `replacement_char`, ignored or an error, depending on `errors`.")
    .Input("input_values", DT_INT32)
    .Input("input_splits", "Tsplits")
    .Output("output", DT_STRING)
    .Attr("errors", OneOf({"ignore", "replace", "strict"}, "replace"))
    .Attr("output_encoding", OneOf({"UTF-8", "UTF-16-BE", "UTF-32-BE"}))
    .Attr("replacement_char", IntAttr(65533))
    .Attr("Tsplits", TypeAttr(IndexTypes(), DT_INT64))
    .Shape(EncodeShape);

OP(UnicodeScript, "Returns ICU's number of the script of each character, or -1.")
    .Input("input", DT_INT32)
    .Output("output", DT_INT32)
    .Shape(SameAsInput(0));

OP(UnicodeTranscode,
   "Converts each string to another encoding. Text that is invalid in `input_encoding` is replaced "
   "by `replacement_char`, ignored or an error, depending on `errors`.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("input_encoding", StringAttr())
    .Attr("output_encoding", OneOf({"UTF-8", "UTF-16-BE", "UTF-32-BE"}))
    .With(DecodeErrorAttrs)
    .Shape(SameAsInput(0));

}  // namespace
}  // namespace sluice
