// Ops that compute a function of each string. Offsets and lengths are in bytes, or in characters of
// UTF-8 if `unit` is UTF8_CHAR.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status SubstrShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.input(1).MergeWith(c.input(2)).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape both, BroadcastShapes(c.input(0), c.input(1)));
  return c.SetOutput(0, both);
}

void ConvertsStrings(OpDefBuilder& op) {
  op.Input("input", DT_STRING).Output("output", DT_STRING).Shape(SameAsInput(0));
}

OP(DecodeBase64, "Decodes base 64 with the alphabet for URLs. The padding is optional.")
    .With(ConvertsStrings)
    .NotDifferentiable();

OP(EncodeBase64, "Encodes bytes in base 64 with the alphabet for URLs.")
    .With(ConvertsStrings)
    .Attr("pad", BoolAttr(false))
    .NotDifferentiable();

OP(StringLength, "Returns the number of bytes or characters of each string.")
    .Input("input", DT_STRING)
    .Output("output", DT_INT32)
    .Attr("unit", OneOf({"BYTE", "UTF8_CHAR"}, "BYTE"))
    .Shape(SameAsInput(0));

OP(StringLower,
   "Converts the letters A to Z to lower case, or all letters if `encoding` is \"utf-8\".")
    .With(ConvertsStrings)
    .Attr("encoding", StringAttr(""));

OP(StringStrip, "Removes the blanks at both ends of each string.").With(ConvertsStrings);

OP(StringUpper,
   "Converts the letters a to z to upper case, or all letters if `encoding` is \"utf-8\".")
    .With(ConvertsStrings)
    .Attr("encoding", StringAttr(""));

OP(Substr,
   "Returns `len` characters from position `pos` of each string. A negative position counts from "
   "the end.")
    .Input("input", DT_STRING)
    .With(Inputs({"pos", "len"}, "T"))
    .Output("output", DT_STRING)
    .Attr("T", TypeAttr(IndexTypes()))
    .Attr("unit", OneOf({"BYTE", "UTF8_CHAR"}, "BYTE"))
    .Shape(SubstrShape);

}  // namespace
}  // namespace sluice
