// Ops for average pools over images and volumes. Elements outside the image do not count.
#include "ops/conv/window_attrs.h"
#include "ops/op.h"
#include "ops/pool/pool_shape.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

// The gradient of an average is linear in the incoming gradient, so each of the two ops is the
// gradient of the other.
#ifndef SLUICE_DEFINITIONS_ONLY
GradientFunction AvgPoolGradient(const char* input, const char* gradient_op) {
  return [=](Backprop& b) {
    b.Into(input, Sibling(b, gradient_op, {ShapeOf(b.Value(input)), b.Of("output")}));
  };
}
GradientFunction AvgPoolSecondGradient(const char* op) {
  return [=](Backprop& b) { b.Into("grad", Sibling(b, op, {b.Of("output")})); };
}
#endif

std::optional<ImageRoles> ImagesOfAvgPoolGrad(const Node& node) {
  const bool fits =
      IsVectorOf(node.input(0), 4) && Pools(node, node.output_shape(0), node.input(1).shape());
  if (!fits) return std::nullopt;
  return ImageRoles{.images = {1}, .operand = 0, .transposes_inside = true};
}

OP(AvgPool, "Computes the mean of each window.")
    .Input("value", "T")
    .Output("output", "T")
    .With(PoolWindow(2))
    .Attr("T", TypeAttr(FloatTypes()))
    .Images(ImagesOfPool)
    .Recompute(RecomputeCost::kElements)
    .Shape(PoolShape) GRADIENT(AvgPoolGradient("value", "AvgPoolGrad"));

OP(AvgPoolGrad,
   "Computes the gradient of AvgPool with respect to its input, whose shape is orig_input_shape.")
    .Input("orig_input_shape", DT_INT32)
    .Input("grad", "T")
    .Output("output", "T")
    .With(PoolWindow(2))
    .Attr("T", TypeAttr(FloatTypes()))
    .Images(ImagesOfAvgPoolGrad)
    .Shape(ImagesOfSizes) GRADIENT(AvgPoolSecondGradient("AvgPool"));

OP(QuantizedAvgPool,
   "AvgPool of quantized images. The range stays the same, and means are truncated to integers.")
    .With(QuantizedPool)
    .Recompute(RecomputeCost::kElements)
    .Shape(QuantizedPoolShape);

OP(AvgPool3D, "Computes the mean of each window.")
    .Input("input", "T")
    .Output("output", "T")
    .With(PoolWindow(3))
    .Attr("T", TypeAttr(FloatTypes()))
    .KeepsLayout("images have three dimensions of space")
    .Shape(PoolShape) GRADIENT(AvgPoolGradient("input", "AvgPool3DGrad"));

OP(AvgPool3DGrad,
   "Computes the gradient of AvgPool3D with respect to its input, whose shape is orig_input_shape.")
    .Input("orig_input_shape", DT_INT32)
    .Input("grad", "T")
    .Output("output", "T")
    .With(PoolWindow(3))
    .Attr("T", TypeAttr(FloatTypes()))
    .KeepsLayout("images have three dimensions of space")
    .Shape(ImagesOfSizes) GRADIENT(AvgPoolSecondGradient("AvgPool3D"));

}  // namespace
}  // namespace sluice
