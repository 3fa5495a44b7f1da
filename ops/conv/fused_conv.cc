// Convolutions fused with the ops around them: those that TensorFlow's remapper writes into graphs
// (a convolution, then the fused_ops by name: BiasAdd or FusedBatchNorm with scale, offset, mean
// and variance, then optionally an activation), and convolutions of padded or resized images.
#include "graph/tensor/sizes.h"
#include "ops/conv/volume_geometry.h"
#include "ops/conv/window.h"
#include "ops/op.h"

namespace sluice {
namespace {

// Images under filters. Filters are [height, width, channels in, channels out], or [height, width,
// channels, multiplier] where `depthwise`.
absl::StatusOr<PartialShape> ConvolvedShape(const PartialShape& images, const PartialShape& filter,
                                            const std::string& format, const ImageSliding& sliding,
                                            bool depthwise) {
  const ImageLayout layout = ImageLayout::Of(format);
  PartialShape out = PartialShape::UnknownOfRank(4);
  out.set_dim(layout.batch, images.dim(layout.batch));
  SLUICE_ASSIGN_OR_RETURN(const int64_t height,
                          WindowOutputs(images.dim(layout.height), filter.dim(0), sliding.height));
  SLUICE_ASSIGN_OR_RETURN(const int64_t width,
                          WindowOutputs(images.dim(layout.width), filter.dim(1), sliding.width));
  out.set_dim(layout.height, height);
  out.set_dim(layout.width, width);
  int64_t channels = filter.dim(3);
  if (depthwise) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t in, MergeDim(images.dim(layout.channel), filter.dim(2)));
    channels = in < 0 || channels < 0 ? -1 : MultiplyWithoutOverflow(in, channels);
  }
  out.set_dim(layout.channel, channels);
  return out;
}

template <bool kDepthwise>
absl::Status FusedConvShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 4));
  const std::string& format = c.attr<std::string>("data_format");
  if (format == "NCHW_VECT_C") return c.SetOutput(0, PartialShape::UnknownRank());
  SLUICE_ASSIGN_OR_RETURN(
      const ImageSliding sliding,
      ImageSlidingOf(
          c.node().op(), format, c.attr<std::vector<int64_t>>("strides"),
          c.attr<std::vector<int64_t>>("dilations"), c.attr<std::string>("padding"),
          kDepthwise ? std::vector<int64_t>() : c.attr<std::vector<int64_t>>("explicit_paddings")));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out,
                          ConvolvedShape(images, filter, format, sliding, kDepthwise));
  return c.SetOutput(0, out);
}

absl::Status FusedConv3DShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 5));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 5));
  const std::string& format = c.attr<std::string>("data_format");
  const VolumeLayout layout = VolumeLayout::Of(format);
  SLUICE_ASSIGN_OR_RETURN(
      const VolumeSliding sliding,
      VolumeSlidingOf(c.node().op(), format, c.attr<std::vector<int64_t>>("strides"),
                      c.attr<std::vector<int64_t>>("dilations"), c.attr<std::string>("padding")));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, ConvolvedVolume(layout, sliding, input, filter));
  return c.SetOutput(0, out);
}

// Images, then perhaps sizes, then paddings, then filters.
absl::Status PadConvShape(ShapeContext& c) {
  const bool resizes = c.num_inputs() == 4;
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape paddings, c.WithRank(resizes ? 2 : 1, 2));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(resizes ? 3 : 2, 4));
  SLUICE_RETURN_IF_ERROR(MergeDim(paddings.dim(0), 4).status());
  SLUICE_RETURN_IF_ERROR(MergeDim(paddings.dim(1), 2).status());
  PartialShape padded = images.rank_known() ? images : PartialShape::UnknownOfRank(4);
  if (resizes) {
    std::optional<std::vector<int64_t>> size = c.InputInts(1);
    const bool known = size && size->size() == 2;
    padded.set_dim(1, known ? (*size)[0] : -1);
    padded.set_dim(2, known ? (*size)[1] : -1);
  }
  const std::optional<Tensor> values = c.InputValue(resizes ? 2 : 1);
  for (int d = 0; d < 4; ++d) {
    if (!values || values->num_elements() != 8) {
      padded.set_dim(d, -1);
    } else if (padded.dim(d) >= 0) {
      const int32_t* sizes = values->data<int32_t>() + 2 * d;
      if (sizes[0] < 0 || sizes[1] < 0) return InvalidArgument("paddings must not be negative");
      padded.set_dim(d, SaturatedSum(padded.dim(d), int64_t{sizes[0]} + sizes[1]));
    }
  }
  SLUICE_RETURN_IF_ERROR(MergeDim(padded.dim(3), filter.dim(2)).status());
  SLUICE_ASSIGN_OR_RETURN(
      const ImageSliding sliding,
      ImageSlidingOf(c.node().op(), "NHWC", c.attr<std::vector<int64_t>>("strides"), {1, 1, 1, 1},
                     c.attr<std::string>("padding"), {}));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, ConvolvedShape(padded, filter, "NHWC", sliding, false));
  return c.SetOutput(0, out);
}

OP(FusedPadConv2D,
   "Conv2D of images padded by mirrors of themselves: SYMMETRIC repeats the edge, REFLECT does "
   "not.")
    .Input("input", "T")
    .Input("paddings", DT_INT32)
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("mode", OneOf({"REFLECT", "SYMMETRIC"}))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape(PadConvShape);

OP(FusedResizeAndPadConv2D, "FusedPadConv2D of images resized by linear interpolation.")
    .Input("input", "T")
    .Input("size", DT_INT32)
    .Input("paddings", DT_INT32)
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Attr("resize_align_corners", BoolAttr(false))
    .Attr("mode", OneOf({"REFLECT", "SYMMETRIC"}))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Shape(PadConvShape);

OP(_FusedConv2D,
   "Conv2D, then the fused_ops. 8-bit types take a bias, a side input and scales of both, and give "
   "round(scale * conv + side_scale * side + bias).")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("args", "TArgs")
    .Input("host_args", "num_host_args*float")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE, DT_INT8, DT_QINT8}))
    .Attr("TArgs", TypeListAttr(TypeSet{}).Min(1))
    .Attr("num_args", IntAttr().Min(0))
    .Attr("num_host_args", IntAttr(0).Min(0))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW", "NCHW_VECT_C"}, "NHWC"))
    .Attr("filter_format", OneOf({"HWIO", "OIHW", "OIHW_VECT_I"}, "HWIO"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Attr("use_cudnn_on_gpu", BoolAttr(true))
    .Attr("fused_ops", StringListAttr({}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("leakyrelu_alpha", FloatAttr(0.2f))
    .Shape(FusedConvShape<false>);

OP(_FusedConv3D, "Conv3D, then the fused_ops.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("args", "num_args*T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_BFLOAT16, DT_FLOAT, DT_HALF}))
    .Attr("num_args", IntAttr().Min(0))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Attr("padding_list", IntListAttr({}))
    .Attr("fused_ops", StringListAttr({}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("leakyrelu_alpha", FloatAttr(0.2f))
    .Shape(FusedConv3DShape);

OP(_FusedDepthwiseConv2dNative, "DepthwiseConv2dNative, then the fused_ops.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("args", "num_args*T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("num_args", IntAttr().Min(0))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Attr("fused_ops", StringListAttr({}))
    .Attr("epsilon", FloatAttr(0.0001f))
    .Attr("leakyrelu_alpha", FloatAttr(0.2f))
    .Shape(FusedConvShape<true>);

}  // namespace
}  // namespace sluice
