// Convolutions over images, and what their gradients are made of. Images are [batch, height, width,
// channels] (data_format NHWC) or [batch, channels, height, width] (NCHW); filters are [height,
// width, channels in, channels out], also for NCHW.
#include "ops/conv/window.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/conv/conv_builders.h"
#endif

namespace sluice {
namespace {

absl::StatusOr<ImageSliding> SlidingOf(ShapeContext& c) {
  return ImageSlidingOf(c.node().op(), c.attr<std::string>("data_format"),
                        c.attr<std::vector<int64_t>>("strides"),
                        c.attr<std::vector<int64_t>>("dilations"), c.attr<std::string>("padding"),
                        c.attr<std::vector<int64_t>>("explicit_paddings"));
}

PartialShape Images(const ImageLayout& layout, int64_t batch, int64_t height, int64_t width,
                    int64_t channels) {
  PartialShape s = PartialShape::UnknownOfRank(4);
  s.set_dim(layout.batch, batch);
  s.set_dim(layout.height, height);
  s.set_dim(layout.width, width);
  s.set_dim(layout.channel, channels);
  return s;
}

// Channels may fall into groups, each with filters of its own: the filter then has fewer of them.
absl::Status CheckGroups(int64_t channels, const PartialShape& filter) {
  const int64_t filter_channels = filter.dim(2), out = filter.dim(3);
  if (channels < 0 || filter_channels < 0) return absl::OkStatus();
  if (filter_channels == 0) return InvalidArgument("Depth of filter must not be 0");
  if (channels % filter_channels != 0) {
    return InvalidArgument("Depth of input (", channels,
                           ") is not a multiple of input depth of filter (", filter_channels, ")");
  }
  const int64_t groups = channels / filter_channels;
  if (groups < 1) return InvalidArgument("Number of groups must be at least 1, got ", groups);
  if (out >= 0 && out % groups != 0) {
    return InvalidArgument("Depth of output (", out,
                           ") is not a multiple of the number of groups (", groups, ")");
  }
  return absl::OkStatus();
}

// `depthwise`: the filter's last size counts outputs a channel.
absl::Status ConvShape(ShapeContext& c, bool depthwise) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 4));
  SLUICE_ASSIGN_OR_RETURN(ImageSliding sliding, SlidingOf(c));
  const ImageLayout layout = ImageLayout::Of(c.attr<std::string>("data_format"));
  int64_t channels = filter.dim(3);
  if (depthwise) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t in, MergeDim(input.dim(layout.channel), filter.dim(2)));
    channels = in < 0 || channels < 0 ? -1 : MultiplyWithoutOverflow(in, channels);
  } else {
    SLUICE_RETURN_IF_ERROR(CheckGroups(input.dim(layout.channel), filter));
  }
  SLUICE_ASSIGN_OR_RETURN(const int64_t height,
                          WindowOutputs(input.dim(layout.height), filter.dim(0), sliding.height));
  SLUICE_ASSIGN_OR_RETURN(const int64_t width,
                          WindowOutputs(input.dim(layout.width), filter.dim(1), sliding.width));
  return c.SetOutput(0, Images(layout, input.dim(layout.batch), height, width, channels));
}

absl::Status ConvBackpropInputShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape grad, c.WithRank(2, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape sizes, c.InputAsShape(0));
  const ImageLayout layout = ImageLayout::Of(c.attr<std::string>("data_format"));
  const int64_t batch = grad.dim(layout.batch);
  if (!sizes.rank_known()) return c.SetOutput(0, Images(layout, batch, -1, -1, -1));
  if (sizes.rank() == 2) {
    return c.SetOutput(0, Images(layout, batch, sizes.dim(0), sizes.dim(1), filter.dim(2)));
  }
  if (sizes.rank() != 4) {
    return InvalidArgument(
        "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: ",
        sizes.rank());
  }
  SLUICE_ASSIGN_OR_RETURN(sizes, sizes.MergeWith(Images(layout, batch, -1, -1, -1)));
  return c.SetOutput(0, sizes);
}

// The output's shape is a tensor, four integers.
template <int kInput>
absl::Status SizesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape sizes, c.InputAsShape(kInput));
  SLUICE_ASSIGN_OR_RETURN(sizes, WithRank(sizes, 4));
  return c.SetOutput(0, sizes);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The attributes that all ops of one convolution share.
template <typename Attrs>
Attrs SameAttrs(Backprop& b) {
  Attrs attrs;
  attrs.explicit_paddings = b.attr<std::vector<int64_t>>("explicit_paddings");
  attrs.data_format = b.attr<std::string>("data_format");
  attrs.dilations = b.attr<std::vector<int64_t>>("dilations");
  if constexpr (requires { attrs.use_cudnn_on_gpu; }) {
    attrs.use_cudnn_on_gpu = b.attr<bool>("use_cudnn_on_gpu");
  }
  return attrs;
}

struct ConvOps {
  Backprop& b;
  std::vector<int64_t> strides = b.attr<std::vector<int64_t>>("strides");
  std::string padding = b.attr<std::string>("padding");

  Output Forward(Output x, Output filter) const {
    return Conv2D(x, filter, strides, padding, SameAttrs<Conv2DAttrs>(b));
  }
  Output ByInput(Output sizes, Output filter, Output grad) const {
    return Conv2DBackpropInput(sizes, filter, grad, strides, padding,
                               SameAttrs<Conv2DBackpropInputAttrs>(b));
  }
  Output ByFilter(Output x, Output sizes, Output grad) const {
    return Conv2DBackpropFilter(x, sizes, grad, strides, padding,
                                SameAttrs<Conv2DBackpropFilterAttrs>(b));
  }
};

struct DepthwiseOps {
  Backprop& b;
  std::vector<int64_t> strides = b.attr<std::vector<int64_t>>("strides");
  std::string padding = b.attr<std::string>("padding");

  Output Forward(Output x, Output filter) const {
    return DepthwiseConv2dNative(x, filter, strides, padding,
                                 SameAttrs<DepthwiseConv2dNativeAttrs>(b));
  }
  Output ByInput(Output sizes, Output filter, Output grad) const {
    return DepthwiseConv2dNativeBackpropInput(
        sizes, filter, grad, strides, padding,
        SameAttrs<DepthwiseConv2dNativeBackpropInputAttrs>(b));
  }
  Output ByFilter(Output x, Output sizes, Output grad) const {
    return DepthwiseConv2dNativeBackpropFilter(
        x, sizes, grad, strides, padding, SameAttrs<DepthwiseConv2dNativeBackpropFilterAttrs>(b));
  }
};

// A convolution is linear in its input and in its filter, so the gradients of the three ops are
// these same three again.
template <typename Ops>
void GradientOfByInput(Backprop& b) {
  const Ops ops{b};
  Output grad = b.Of("output");
  b.Into("filter", ops.ByFilter(grad, ShapeOf(b.Value("filter")), b.Value("out_backprop")));
  b.Into("out_backprop", ops.Forward(grad, b.Value("filter")));
}
template <typename Ops>
void GradientOfByFilter(Backprop& b) {
  const Ops ops{b};
  Output grad = b.Of("output");
  b.Into("input", ops.ByInput(ShapeOf(b.Value("input")), grad, b.Value("out_backprop")));
  b.Into("out_backprop", ops.Forward(b.Value("input"), grad));
}
#endif

OP(Conv2D,
   "Convolution (cross correlation) of images and filters. Where the filters have fewer input "
   "channels than the images, channels fall into groups with filters of their own. Four strides "
   "and dilations, one a dimension; explicit_paddings are pairs (before, after) a dimension.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | TypeSet{DT_INT32}))
    .Attr("strides", IntListAttr())
    .Attr("use_cudnn_on_gpu", BoolAttr(true))
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape([](ShapeContext& c) { return ConvShape(c, false); }) GRADIENT([](Backprop& b) {
      const ConvOps ops{b};
      Output x = b.Value("input"), filter = b.Value("filter"), grad = b.Of("output");
      OutputList shapes = ShapeN({x, filter});
      if (shapes.size() != 2) return;
      b.Into("input", ops.ByInput(shapes[0], filter, grad));
      b.Into("filter", ops.ByFilter(x, shapes[1], grad));
    });

OP(Conv2DBackpropFilter, "Gradient of Conv2D by its filter, whose shape is filter_sizes.")
    .Input("input", "T")
    .Input("filter_sizes", DT_INT32)
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr())
    .Attr("use_cudnn_on_gpu", BoolAttr(true))
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape(SizesShape<1>) GRADIENT(GradientOfByFilter<ConvOps>);

OP(Conv2DBackpropInput,
   "Gradient of Conv2D by its input, whose shape is input_sizes (all four sizes, or height and "
   "width alone). Also known as transposed convolution.")
    .Input("input_sizes", DT_INT32)
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes() | TypeSet{DT_INT32}))
    .Attr("strides", IntListAttr())
    .Attr("use_cudnn_on_gpu", BoolAttr(true))
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape(ConvBackpropInputShape) GRADIENT(GradientOfByInput<ConvOps>);

OP(DepthwiseConv2dNative,
   "Convolution of each channel by itself: filters are [height, width, channels, m], and output "
   "channel c * m + q is channel c under filter q.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape([](ShapeContext& c) { return ConvShape(c, true); }) GRADIENT([](Backprop& b) {
      const DepthwiseOps ops{b};
      Output x = b.Value("input"), filter = b.Value("filter"), grad = b.Of("output");
      b.Into("input", ops.ByInput(ShapeOf(x), filter, grad));
      b.Into("filter", ops.ByFilter(x, ShapeOf(filter), grad));
    });

OP(DepthwiseConv2dNativeBackpropFilter,
   "Gradient of DepthwiseConv2dNative by its filter, whose shape is filter_sizes.")
    .Input("input", "T")
    .Input("filter_sizes", DT_INT32)
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape(SizesShape<1>) GRADIENT(GradientOfByFilter<DepthwiseOps>);

OP(DepthwiseConv2dNativeBackpropInput,
   "Gradient of DepthwiseConv2dNative by its input, whose shape is input_sizes.")
    .Input("input_sizes", DT_INT32)
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"NHWC", "NCHW"}, "NHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1}))
    .Shape(SizesShape<0>) GRADIENT(GradientOfByInput<DepthwiseOps>);

}  // namespace
}  // namespace sluice
