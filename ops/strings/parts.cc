// Functions of one string each. Offsets and lengths count bytes, or characters of UTF-8 where
// `unit` says so.

#include "ops/op.h"

namespace sluice {
namespace {

absl::Status SubstrShape(ShapeContext& c) {
  SLUICE_RETURN_IF_ERROR(c.input(1).MergeWith(c.input(2)).status());
  SLUICE_ASSIGN_OR_RETURN(const PartialShape both, BroadcastShapes(c.input(0), c.input(1)));
  return c.SetOutput(0, both);
}

OP(DecodeBase64, "Base 64 (the alphabet for URLs) as bytes; padding may be left out.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(EncodeBase64, "Bytes in base 64 (the alphabet for URLs).")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("pad", BoolAttr(false))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(StringLength, "Bytes or characters of each string.")
    .Input("input", DT_STRING)
    .Output("output", DT_INT32)
    .Attr("unit", OneOf({"BYTE", "UTF8_CHAR"}, "BYTE"))
    .Shape(SameAsInput(0));

OP(StringLower,
   "In lower case: of the letters A to Z alone, or with `encoding` \"utf-8\" of all letters.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("encoding", StringAttr(""))
    .Shape(SameAsInput(0));

OP(StringStrip, "Without the blanks around it.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Shape(SameAsInput(0));

OP(StringUpper,
   "In upper case: of the letters A to Z alone, or with `encoding` \"utf-8\" of all letters.")
    .Input("input", DT_STRING)
    .Output("output", DT_STRING)
    .Attr("encoding", StringAttr(""))
    .Shape(SameAsInput(0));

OP(Substr, "Of each string `len` characters from `pos` on (from the end where it is negative).")
    .Input("input", DT_STRING)
    .Input("pos", "T")
    .Input("len", "T")
    .Output("output", DT_STRING)
    .Attr("T", TypeAttr(IndexTypes()))
    .Attr("unit", OneOf({"BYTE", "UTF8_CHAR"}, "BYTE"))
    .Shape(SubstrShape);

}  // namespace
}  // namespace sluice
