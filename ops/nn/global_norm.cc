// Batch normalisation as graphs of the first versions hold it.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/global_norm_builders.h"
#endif

namespace sluice {
namespace {

// Images, and vectors of their channels from input 1 to `last`; gives the
// channels.
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
   "(t - m) / sqrt(v + variance_epsilon) * gamma + beta for each channel of "
   "images; gamma counts if scale_after_normalization.")
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
   "Gradients of BatchNormWithGlobalNormalization by t, m, v, beta and gamma.")
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

absl::Status NormExShape(ShapeContext& c) {
  const bool is_first = c.attr<std::string>("data_format") == "NCHW";
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, 4));
  const int channel = is_first ? 1 : 3;
  int64_t channels = x.dim(channel);
  for (int i = 1; i < (c.attr<bool>("is_training") ? 3 : 5); ++i) {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape vector, c.WithRank(i, 1));
    SLUICE_ASSIGN_OR_RETURN(channels, MergeDim(channels, vector.dim(0)));
  }
  if (x.rank_known()) x.set_dim(channel, channels);
  for (int i = 5; i < c.num_inputs(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(x, x.MergeWith(c.input(i)));
  }
  c.SetOutput(0, x).IgnoreError();
  for (int i = 1; i < 5; ++i) c.SetOutput(i, {channels}).IgnoreError();
  return c.SetOutput(5, PartialShape::UnknownRank());
}

OP(_FusedBatchNormEx, "FusedBatchNormV3, a side input added, and an activation (Identity, Relu).")
    .Input("x", "T")
    .Input("scale", "U")
    .Input("offset", "U")
    .Input("mean", "U")
    .Input("variance", "U")
    .Input("side_input", "num_side_inputs*T")
    .Output("y", "T")
    .Output("batch_mean", "U")
    .Output("batch_variance", "U")
    .Output("reserve_space_1", "U")
    .Output("reserve_space_2", "U")
    .Output("reserve_space_3", "U")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_BFLOAT16}))
    .Attr("U", TypeAttr(TypeSet{DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("exponential_avg_factor", FloatAttr(1.0f))
    .Attr("num_side_inputs", IntAttr(0).Min(0))
    .Attr("activation_mode", StringAttr("Identity"))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormExShape);

}  // namespace
}  // namespace sluice
