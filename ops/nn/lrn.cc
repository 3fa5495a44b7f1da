// Local response normalisation: each element divided by a power of the squares of its neighbours
// along the channels (Krizhevsky et al., 2012).
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/lrn_builders.h"
#endif

namespace sluice {
namespace {

OP(LRN,
   "output = input / (bias + alpha * sum of input^2 over the depth_radius channels at either side) "
   "^ beta. Images are [batch, height, width, channels].")
    .Input("input", "T")
    .Output("output", "T")
    .Attr("depth_radius", IntAttr(5))
    .Attr("bias", FloatAttr(1.0f))
    .Attr("alpha", FloatAttr(1.0f))
    .Attr("beta", FloatAttr(0.5f))
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
      return c.SetOutput(0, images);
    }) GRADIENT([](Backprop& b) {
      b.Into("input", LRNGrad(b.Of("output"), b.Value("input"), b.Value("output"),
                              {.depth_radius = b.attr<int64_t>("depth_radius"),
                               .bias = b.attr<float>("bias"),
                               .alpha = b.attr<float>("alpha"),
                               .beta = b.attr<float>("beta")}));
    });

OP(LRNGrad, "Gradient of LRN.")
    .Input("input_grads", "T")
    .Input("input_image", "T")
    .Input("output_image", "T")
    .Output("output", "T")
    .Attr("depth_radius", IntAttr(5))
    .Attr("bias", FloatAttr(1.0f))
    .Attr("alpha", FloatAttr(1.0f))
    .Attr("beta", FloatAttr(0.5f))
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}, DT_FLOAT))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape grads, c.WithRank(0, 4));
      SLUICE_ASSIGN_OR_RETURN(grads, grads.MergeWith(c.input(1)));
      SLUICE_ASSIGN_OR_RETURN(grads, grads.MergeWith(c.input(2)));
      return c.SetOutput(0, grads);
    });

}  // namespace
}  // namespace sluice
