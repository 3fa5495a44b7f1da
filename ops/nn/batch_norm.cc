// Batch normalisation in one op: y = (x - mean) * rsqrt(variance + epsilon) * scale + offset, with
// a mean and a variance per channel. In training, they are computed from the batch. In inference,
// they are inputs.
//
// Outputs batch_mean and batch_variance are the batch's mean and unbiased variance, mixed with the
// inputs mean and variance by exponential_avg_factor. reserve_space_1 and _2 are the batch's mean
// and biased variance, for the gradient op. In inference, all of these equal the inputs.
//
// Reference: Ioffe and Szegedy, "Batch Normalization" (2015).
#include "graph/infer/image_roles.h"
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

// Merges the number of channels of `x` with the sizes of inputs [first, last).
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
  // Does not check mean and variance in training, because they may be empty then.
  SLUICE_ASSIGN_OR_RETURN(x, MergeChannels(c, x, 1, c.attr<bool>("is_training") ? 3 : 5));
  for (int i = 5; i < c.num_inputs(); ++i) {  // side inputs
    SLUICE_ASSIGN_OR_RETURN(x, x.MergeWith(c.input(i)));
  }
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

// Declares the inputs. Those with one element per channel have type `type`.
using Mixin = std::function<void(OpDefBuilder&)>;
Mixin NormInputs(std::string type) {
  return [type](OpDefBuilder& b) {
    b.Input("x", "T");
    for (const char* name : {"scale", "offset", "mean", "variance"}) b.Input(name, type);
  };
}
Mixin NormOutputs(std::string type) {
  return [type](OpDefBuilder& b) {
    b.Output("y", "T");
    b.Output("batch_mean", type).Output("batch_variance", type);
    b.Output("reserve_space_1", type).Output("reserve_space_2", type);
  };
}
Mixin NormGradInputs(std::string scale_type, std::string type) {
  return [=](OpDefBuilder& b) {
    b.Input("y_backprop", "T").Input("x", "T").Input("scale", scale_type);
    b.Input("reserve_space_1", type).Input("reserve_space_2", type);
  };
}
Mixin NormGradOutputs(std::string type) {
  return [type](OpDefBuilder& b) {
    b.Output("x_backprop", "T").Output("scale_backprop", type).Output("offset_backprop", type);
  };
}

// Declares attribute T, and also U if `statistics` is not empty.
Mixin NormTypes(TypeSet images, TypeSet statistics) {
  return [=](OpDefBuilder& b) {
    b.Attr("T", TypeAttr(images));
    if (!statistics.empty()) b.Attr("U", TypeAttr(statistics));
    b.Attr("epsilon", FloatAttr(0.0001f));
  };
}
void Factor(OpDefBuilder& b) { b.Attr("exponential_avg_factor", FloatAttr(1.0f)); }
void ImageFormat(OpDefBuilder& b) {
  b.Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC")).Attr("is_training", BoolAttr(true));
}
void ImageOrVolumeFormat(OpDefBuilder& b) {
  b.Attr("data_format", OneOf({"NHWC", "NCHW", "NDHWC", "NCDHW"}, "NHWC"))
      .Attr("is_training", BoolAttr(true));
}

constexpr TypeSet kFloats = {DT_HALF, DT_BFLOAT16, DT_FLOAT};

std::optional<ImageRoles> ImagesOfNorm(const Node& node) {
  if (!HasChannelsFirst(node) || !IsImage(node.input(0).shape())) return std::nullopt;
  return ImageRoles{.images = {0}, .transposes_inside = true};
}

std::optional<ImageRoles> ImagesOfNormGrad(const Node& node) {
  if (!HasChannelsFirst(node) || !HaveOneSize(node.input(0).shape(), node.input(1).shape())) {
    return std::nullopt;
  }
  return ImageRoles{.images = {0, 1}, .transposes_inside = true};
}

OP(FusedBatchNorm, "Normalises a batch of images. See FusedBatchNormV3.")
    .With(NormInputs("T"))
    .With(NormOutputs("T"))
    .With(NormTypes(DT_FLOAT, {}))
    .With(Factor)
    .With(ImageFormat)
    .Images(ImagesOfNorm)
    .Recompute(RecomputeCost::kElements)
    .Shape(NormShape) GRADIENT(BatchNormGradient);

OP(FusedBatchNormGrad, "Computes the gradient of FusedBatchNorm. See FusedBatchNormGradV3.")
    .With(NormGradInputs("T", "T"))
    .With(NormGradOutputs("T"))
    .Output("reserve_space_3", "T")
    .Output("reserve_space_4", "T")
    .With(NormTypes(DT_FLOAT, {}))
    .With(ImageFormat)
    .Images(ImagesOfNormGrad)
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormGradV2, "Computes the gradient of FusedBatchNormV2. See FusedBatchNormGradV3.")
    .With(NormGradInputs("float", "U"))
    .With(NormGradOutputs("U"))
    .Output("reserve_space_3", "U")
    .Output("reserve_space_4", "U")
    .With(NormTypes(kFloats, DT_FLOAT))
    .With(ImageFormat)
    .Images(ImagesOfNormGrad)
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormGradV3,
   "Computes the gradient of FusedBatchNormV3. reserve_space_1 and _2 are outputs of the forward "
   "op in training, and the mean and the variance in inference. The last two outputs are empty.")
    .With(NormGradInputs("float", "U"))
    .Input("reserve_space_3", "U")
    .With(NormGradOutputs("U"))
    .Output("reserve_space_4", "U")
    .Output("reserve_space_5", "U")
    .With(NormTypes(kFloats, DT_FLOAT))
    .With(ImageOrVolumeFormat)
    .Images(ImagesOfNormGrad)
    .Shape(NormGradShape) GRADIENT(BatchNormSecondGradient);

OP(FusedBatchNormV2, "Normalises a batch of images. See FusedBatchNormV3.")
    .With(NormInputs("U"))
    .With(NormOutputs("U"))
    .With(NormTypes(kFloats, DT_FLOAT))
    .With(Factor)
    .With(ImageFormat)
    .Images(ImagesOfNorm)
    .Recompute(RecomputeCost::kElements)
    .Shape(NormShape) GRADIENT(BatchNormGradient);

OP(FusedBatchNormV3,
   "Normalises a batch of images or volumes. data_format gives the number of dimensions. The other "
   "inputs are [channels]. In training, mean and variance may be empty if exponential_avg_factor "
   "is 1. reserve_space_3 has no meaning on a CPU.")
    .With(NormInputs("U"))
    .With(NormOutputs("U"))
    .Output("reserve_space_3", "U")
    .With(NormTypes(kFloats, {DT_BFLOAT16, DT_FLOAT}))
    .With(Factor)
    .With(ImageOrVolumeFormat)
    .Images(ImagesOfNorm)
    .Recompute(RecomputeCost::kElements)
    .Shape(NormShape) GRADIENT(BatchNormGradient);

OP(_FusedBatchNormEx,
   "Applies FusedBatchNormV3, adds a side input, and applies an activation (Identity or Relu).")
    .With(NormInputs("U"))
    .Input("side_input", "num_side_inputs*T")
    .With(NormOutputs("U"))
    .Output("reserve_space_3", "U")
    .With(NormTypes(kFloats, DT_FLOAT))
    .With(Factor)
    .Attr("num_side_inputs", IntAttr(0).Min(0))
    .Attr("activation_mode", StringAttr("Identity"))
    .With(ImageFormat)
    .KeepsLayout("TensorFlow's optimizer adds it after choosing the layout")
    .Recompute(RecomputeCost::kElements)
    .Shape(NormShape);

}  // namespace
}  // namespace sluice
