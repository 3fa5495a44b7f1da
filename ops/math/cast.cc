// Ops that convert between types of numbers.
#include "graph/infer/constant_context.h"
#include "graph/infer/image_roles.h"
#include "ops/op.h"

namespace sluice {
namespace {

#ifndef SLUICE_DEFINITIONS_ONLY
void CastGradient(Backprop& b) {
  const TypeSet differentiable = FloatTypes() | ComplexTypes();
  const DataType from = BaseType(b.In(0).dtype());
  const DataType to = BaseType(b.Out(0).dtype());
  if (!differentiable.contains(from) || !differentiable.contains(to)) return;
  if (b.GradOf(0).is_slices()) {
    IndexedSlices rows = b.GradOf(0).slices();
    rows.values = from == to ? rows.values : Cast(rows.values, from);
    b.Into("x", rows);
    return;
  }
  Output grad = b.Of("y");
  b.Into("x", from == to ? grad : Cast(grad, from));
}
#endif

bool KeepsType(const Node& node) {
  return BaseType(node.input(0).dtype()) == BaseType(node.output_type(0));
}

OP(Cast,
   "Converts each element to type DstT. Conversion to integers drops the fraction, to real numbers "
   "the imaginary part. A bool is whether the element is not zero. Truncate drops bits of floating "
   "point numbers that a narrower type cannot hold, instead of rounding.")
    .Input("x", "SrcT")
    .Output("y", "DstT")
    .Attr("SrcT", TypeAttr())
    .Attr("DstT", TypeAttr())
    .Attr("Truncate", BoolAttr(false))
    .MayForwardInput()
    .Identity(KeepsType)
    .ConstantValue(ValueOfInput)
    .Images(ImagesOfOneSize)
    .Recompute(RecomputeCost::kElements)
    .Shape(SameAsInput(0)) GRADIENT(CastGradient);

}  // namespace
}  // namespace sluice
