// Batch normalisation in one op: y = (x - mean) * rsqrt(variance + epsilon) * scale + offset, a
// mean and a variance a channel. In training they are the batch's own; in inference they are
// inputs.
//
// Outputs besides y: batch_mean and batch_variance (with the unbiased variance), mixed with the
// inputs mean and variance by exponential_avg_factor; reserve_space_1 and _2, the batch's mean and
// biased variance for the gradient op; in inference all of them repeat the inputs.
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/nn/batch_norm_gradient.h"
#endif

namespace sluice {
namespace {

int ChannelDim(const ShapeContext& c, int rank) {
  return c.attr<std::string>("data_format").starts_with("NC") ? 1 : rank - 1;
}
int Rank(const ShapeContext& c) {
  return static_cast<int>(c.attr<std::string>("data_format").size());
}

// x with its channels merged with the sizes of inputs [first, last).
absl::StatusOr<PartialShape> MergeChannels(ShapeContext& c, PartialShape x, int first, int last) {
  const int channel = ChannelDim(c, x.rank());
  for (int i = first; i < last; ++i) {
    SLUICE_ASSIGN_OR_RETURN(PartialShape vector, c.WithRank(i, 1));
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, MergeDim(x.dim(channel), vector.dim(0)));
    x.set_dim(channel, size);
  }
  return x;
}

absl::Status NormShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(0, Rank(c)));
  // In training, mean and variance may be empty.
  SLUICE_ASSIGN_OR_RETURN(x, MergeChannels(c, x, 1, c.attr<bool>("is_training") ? 3 : 5));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, x));
  for (int i = 1; i < 5; ++i) {
    SLUICE_RETURN_IF_ERROR(c.SetOutput(i, {x.dim(ChannelDim(c, x.rank()))}));
  }
  return absl::OkStatus();
}

absl::Status NormGradShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape y, c.WithRank(0, Rank(c)));
  SLUICE_ASSIGN_OR_RETURN(PartialShape x, c.WithRank(1, Rank(c)));
  const int channel = ChannelDim(c, x.rank());
  SLUICE_ASSIGN_OR_RETURN(const int64_t channels, MergeDim(y.dim(channel), x.dim(channel)));
  y.set_dim(channel, channels);
  SLUICE_ASSIGN_OR_RETURN(y, MergeChannels(c, y, 2, 5));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(0, y));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(1, {y.dim(channel)}));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(2, {y.dim(channel)}));
  SLUICE_RETURN_IF_ERROR(c.SetOutput(3, {0}));
  return c.SetOutput(4, {0});
}

OP(FusedBatchNorm, "Batch normalisation of images; see FusedBatchNormV3.")
    .Input("x", "T")
    .Input("scale", "T")
    .Input("offset", "T")
    .Input("mean", "T")
    .Input("variance", "T")
    .Output("y", "T")
    .Output("batch_mean", "T")
    .Output("batch_variance", "T")
    .Output("reserve_space_1", "T")
    .Output("reserve_space_2", "T")
    .Attr("T", TypeAttr({DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("exponential_avg_factor", FloatAttr(1.0f))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormShape) GRADIENT([](Backprop& b) { BatchNormGradient(b, 1); });

OP(FusedBatchNormGrad, "Gradient of FusedBatchNorm; see FusedBatchNormGradV3.")
    .Input("y_backprop", "T")
    .Input("x", "T")
    .Input("scale", "T")
    .Input("reserve_space_1", "T")
    .Input("reserve_space_2", "T")
    .Output("x_backprop", "T")
    .Output("scale_backprop", "T")
    .Output("offset_backprop", "T")
    .Output("reserve_space_3", "T")
    .Output("reserve_space_4", "T")
    .Attr("T", TypeAttr({DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormGradV2, "Gradient of FusedBatchNormV2; see FusedBatchNormGradV3.")
    .Input("y_backprop", "T")
    .Input("x", "T")
    .Input("scale", DT_FLOAT)
    .Input("reserve_space_1", "U")
    .Input("reserve_space_2", "U")
    .Output("x_backprop", "T")
    .Output("scale_backprop", "U")
    .Output("offset_backprop", "U")
    .Output("reserve_space_3", "U")
    .Output("reserve_space_4", "U")
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .Attr("U", TypeAttr({DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormGradV3,
   "Gradient of FusedBatchNormV3. reserve_space_1 and _2 are the forward op's in training, the "
   "mean "
   "and the variance in inference; the last two outputs are empty.")
    .Input("y_backprop", "T")
    .Input("x", "T")
    .Input("scale", DT_FLOAT)
    .Input("reserve_space_1", "U")
    .Input("reserve_space_2", "U")
    .Input("reserve_space_3", "U")
    .Output("x_backprop", "T")
    .Output("scale_backprop", "U")
    .Output("offset_backprop", "U")
    .Output("reserve_space_4", "U")
    .Output("reserve_space_5", "U")
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .Attr("U", TypeAttr({DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NDHWC", "NCDHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormV2, "Batch normalisation of images; see FusedBatchNormV3.")
    .Input("x", "T")
    .Input("scale", "U")
    .Input("offset", "U")
    .Input("mean", "U")
    .Input("variance", "U")
    .Output("y", "T")
    .Output("batch_mean", "U")
    .Output("batch_variance", "U")
    .Output("reserve_space_1", "U")
    .Output("reserve_space_2", "U")
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .Attr("U", TypeAttr({DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("exponential_avg_factor", FloatAttr(1.0f))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormShape) GRADIENT([](Backprop& b) { BatchNormGradient(b, 2); });

OP(FusedBatchNormV3,
   "Batch normalisation of images or volumes, four or five dimensions as data_format says; the "
   "other inputs are [channels]. In training, mean and variance may be empty where "
   "exponential_avg_factor is 1. reserve_space_3 means nothing on a CPU.")
    .Input("x", "T")
    .Input("scale", "U")
    .Input("offset", "U")
    .Input("mean", "U")
    .Input("variance", "U")
    .Output("y", "T")
    .Output("batch_mean", "U")
    .Output("batch_variance", "U")
    .Output("reserve_space_1", "U")
    .Output("reserve_space_2", "U")
    .Output("reserve_space_3", "U")
    .Attr("T", TypeAttr({DT_HALF, DT_BFLOAT16, DT_FLOAT}))
    .Attr("U", TypeAttr({DT_BFLOAT16, DT_FLOAT}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("exponential_avg_factor", FloatAttr(1.0f))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NDHWC", "NCDHW"}, "NHWC"))
    .Attr("is_training", BoolAttr(true))
    .Shape(NormShape) GRADIENT([](Backprop& b) { BatchNormGradient(b, 3); });

}  // namespace
}  // namespace sluice
