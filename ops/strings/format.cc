// Tensors as text.

#include "ops/op.h"
#include "ops/strings/pieces.h"

namespace sluice {
namespace {

absl::Status FormatShape(ShapeContext& c) {
  const size_t places =
      FormatPieces(c.attr<std::string>("template"), c.attr<std::string>("placeholder")).size() - 1;
  if (places != static_cast<size_t>(c.num_inputs())) {
    return InvalidArgument("num placeholders in template and num inputs must match: ", places,
                           " vs. ", c.num_inputs());
  }
  return c.SetOutput(0, PartialShape::Scalar());
}

OP(AsString, "Numbers as text, as printf writes them.")
    .Input("input", "T")
    .Output("output", DT_STRING)
    .Attr("T", TypeAttr({DT_FLOAT, DT_DOUBLE, DT_INT32, DT_UINT8, DT_INT16, DT_INT8, DT_INT64,
                         DT_BFLOAT16, DT_UINT16, DT_HALF, DT_UINT32, DT_UINT64, DT_COMPLEX64,
                         DT_COMPLEX128, DT_BOOL, DT_VARIANT, DT_STRING}))
    .Attr("precision", IntAttr(-1))
    .Attr("scientific", BoolAttr(false))
    .Attr("shortest", BoolAttr(false))
    .Attr("width", IntAttr(-1))
    .Attr("fill", StringAttr(""))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(StringFormat,
   "`template` with its placeholders replaced by the inputs as text, one after the other. Of every "
   "dimension that is longer `summarize` elements at each end are shown (-1: all).")
    .Input("inputs", "T")
    .Output("output", DT_STRING)
    .Attr("T", TypeListAttr().Min(0))
    .Attr("template", StringAttr("%s"))
    .Attr("placeholder", StringAttr("%s"))
    .Attr("summarize", IntAttr(3))
    .Shape(FormatShape);

}  // namespace
}  // namespace sluice
