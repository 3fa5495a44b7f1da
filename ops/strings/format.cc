// Ops that format tensors as text.
#include "graph/op/mixins.h"
#include "ops/op.h"
#include "ops/strings/pieces.h"

namespace sluice {
namespace {

// Checks that the template has a placeholder for each input.
absl::Status FormatShape(ShapeContext& c) {
  const size_t placeholders =
      FormatPieces(c.attr<std::string>("template"), c.attr<std::string>("placeholder")).size() - 1;
  SLUICE_INVALID_IF(placeholders != static_cast<size_t>(c.num_inputs()),
                    "num placeholders in template and num inputs must match: ", placeholders,
                    " vs. ", c.num_inputs());
  return c.SetOutput(0, PartialShape::Scalar());
}

OP(AsString, "Converts numbers to text, as printf does.")
    .Input("input", "T")
    .Output("output", DT_STRING)
    .Attr("T", TypeAttr(RealTypes() | ComplexTypes() | TypeSet{DT_BOOL, DT_VARIANT, DT_STRING}))
    .Attr("precision", IntAttr(-1))
    .With(Attrs({"scientific", "shortest"}, BoolAttr(false)))
    .Attr("width", IntAttr(-1))
    .Attr("fill", StringAttr(""))
    .NotDifferentiable()
    .Shape(SameAsInput(0));

OP(StringFormat,
   "Replaces the placeholders of `template` with the inputs as text, in this order. Shows "
   "`summarize` elements at both ends of a longer dimension (-1: all elements).")
    .Input("inputs", "T")
    .Output("output", DT_STRING)
    .Attr("T", TypeListAttr().Min(0))
    .Attr("template", StringAttr("%s"))
    .Attr("placeholder", StringAttr("%s"))
    .Attr("summarize", IntAttr(3))
    .Shape(FormatShape);

}  // namespace
}  // namespace sluice
