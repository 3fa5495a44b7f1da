// Ops for batch normalisation in graphs of TensorFlow's first versions.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/global_norm_builders.h"
#endif

namespace sluice {
namespace {

// Checks the images and the vectors in inputs 1 to `last`, which have one element per channel.
// Returns the number of channels.
absl::StatusOr<int64_t> ChannelsOf(ShapeContext& c, int last) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  int64_t channels = images.dim(3);
  for (int i = 1; i <= last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape vector, c.WithRank(i, 1));
    SLUICE_ASSIGN_OR_RETURN(channels, MergeDim(channels, vector.dim(0)));
  }
  if (images.rank_known()) images.set_dim(3, channels);
  c.SetOutput(0, images).IgnoreError();
  return channels;
}

OP(BatchNormWithGlobalNormalization,
   "Computes (t - m) / sqrt(v + variance_epsilon) * gamma + beta for each channel of images. Uses "
   "gamma only if scale_after_normalization is set.")
    .Input("t", "T")
    .Input("m", "T")
    .Input("v", "T")
    .Input("beta", "T")
    .Input("gamma", "T")
    .Output("result", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("variance_epsilon", FloatAttr())
    .Attr("scale_after_normalization", BoolAttr())
    .Deprecated(9, "Use tf.nn.batch_normalization()")
    .Shape([](ShapeContext& c) { return ChannelsOf(c, 4).status(); }) GRADIENT([](Backprop& b) {
      auto g = BatchNormWithGlobalNormalizationGrad(
          b.Value("t"), b.Value("m"), b.Value("v"), b.Value("gamma"), b.Of("result"),
          b.attr<float>("variance_epsilon"), b.attr<bool>("scale_after_normalization"));
      b.Into("t", g.dx);
      b.Into("m", g.dm);
      b.Into("v", g.dv);
      b.Into("beta", g.db);
      b.Into("gamma", g.dg);
    });

OP(BatchNormWithGlobalNormalizationGrad,
   "Computes the gradients of BatchNormWithGlobalNormalization with respect to t, m, v, beta and "
   "gamma.")
    .Input("t", "T")
    .Input("m", "T")
    .Input("v", "T")
    .Input("gamma", "T")
    .Input("backprop", "T")
    .Output("dx", "T")
    .Output("dm", "T")
    .Output("dv", "T")
    .Output("db", "T")
    .Output("dg", "T")
    .Attr("T", TypeAttr(NumberTypes()))
    .Attr("variance_epsilon", FloatAttr())
    .Attr("scale_after_normalization", BoolAttr())
    .Deprecated(9, "Use tf.nn.batch_normalization()")
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_RETURN_IF_ERROR(c.input(0).MergeWith(c.input(4)).status());
      SLUICE_ASSIGN_OR_RETURN(const int64_t channels, ChannelsOf(c, 3));
      for (int i = 1; i < 5; ++i) c.SetOutput(i, {channels}).IgnoreError();
      return absl::OkStatus();
    });

}  // namespace
}  // namespace sluice
