// Ops for local response normalisation, which divides each element by a power of the sum of squares
// of its neighbours along the channels. Images are [batch, height, width, channels].
//
// Reference: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks"
// (2012).
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

void LrnAttrs(OpDefBuilder& b) {
  b.Attr("depth_radius", IntAttr(5))
      .Attr("bias", FloatAttr(1.0f))
      .Attr("alpha", FloatAttr(1.0f))
      .Attr("beta", FloatAttr(0.5f))
      .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT));
}

OP(LRN,
   "Computes output = input / (bias + alpha * sum of input^2 over depth_radius channels on both "
   "sides) ^ beta.")
    .Input("input", "T")
    .Output("output", "T")
    .With(LrnAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
      return c.SetOutput(0, images);
    }) GRADIENT([](Backprop& b) {
      b.Into("input", Sibling(b, "LRNGrad", {b.Of("output"), b.Value("input"), b.Value("output")}));
    });

OP(LRNGrad, "Computes the gradient of LRN.")
    .Input("input_grads", "T")
    .Input("input_image", "T")
    .Input("output_image", "T")
    .Output("output", "T")
    .With(LrnAttrs)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape grads, c.WithRank(0, 4));
      SLUICE_ASSIGN_OR_RETURN(grads, grads.MergeWith(c.input(1)));
      SLUICE_ASSIGN_OR_RETURN(grads, grads.MergeWith(c.input(2)));
      return c.SetOutput(0, grads);
    });

}  // namespace
}  // namespace sluice
