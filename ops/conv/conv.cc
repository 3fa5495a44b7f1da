// Convolutions over images (2-D) and volumes (3-D), and the ops of their gradients.
//
// Images are [batch, spatial dimensions, channels] (data_format NHWC, NDHWC) or [batch, channels,
// spatial dimensions] (NCHW, NCDHW). Filters are [spatial dimensions, input channels, output
// channels] for all formats.
#include "graph/infer/image_roles.h"
#include "ops/conv/conv_shape.h"
#include "ops/conv/multiply_adds.h"
#include "ops/conv/window_attrs.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

// Sets the output's shape to the value of input kInput, which has one size per dimension.
template <int kInput, int kRank>
absl::Status SizesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape sizes, c.InputAsShape(kInput));
  SLUICE_ASSIGN_OR_RETURN(sizes, WithRank(sizes, kRank));
  return c.SetOutput(0, sizes);
}

// Sets the output's shape to that of input kInput.
template <int kInput>
absl::Status VolumeOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(kInput, 5));
  return c.SetOutput(0, shape);
}

// Shape function of Conv2DBackpropInput, whose input_sizes may consist of height and width only.
absl::Status Conv2DBackpropInputShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape grad, c.WithRank(2, 4));
  SLUICE_ASSIGN_OR_RETURN(PartialShape sizes, c.InputAsShape(0));
  const ImageLayout layout = ImageLayout::Of(c.attr<std::string>("data_format"));
  PartialShape out = PartialShape::UnknownOfRank(4);
  out.set_dim(0, grad.dim(0));
  if (sizes.rank() == 2) {
    out.set_dim(layout.height(), sizes.dim(0));
    out.set_dim(layout.width(), sizes.dim(1));
    out.set_dim(layout.channel(), filter.dim(2));
  } else if (sizes.rank() == 4) {
    SLUICE_ASSIGN_OR_RETURN(out, sizes.MergeWith(out));
  } else if (sizes.rank_known()) {
    return InvalidArgument(
        "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: ",
        sizes.rank());
  }
  return c.SetOutput(0, out);
}

// Shape function of Conv, whose images have batch_dims batch dimensions instead of one. data_format
// determines the order of the other dimensions.
absl::Status AnyConvShape(ShapeContext& c) {
  const PartialShape& filter = c.input(1);
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  SLUICE_INVALID_IF(batch_dims < 0 || batch_dims > TensorShape::kMaxRank,
                    "batch_dims must be from 0 to ", TensorShape::kMaxRank, ", got ", batch_dims);
  if (!filter.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  const int space = filter.rank() - 2, batch = static_cast<int>(batch_dims);
  SLUICE_INVALID_IF(space < 2 || space > 3,
                    "The input must have 2 or 3 spatial dimensions but got ", space);
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, c.WithRank(0, batch + space + 1));
  const ImageLayout layout{
      .space = space, .channels_first = c.attr<std::string>("data_format") == "CHANNELS_FIRST"};
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node(), layout));
  PartialShape images = PartialShape::UnknownOfRank(layout.rank());
  for (int d = 1; d < layout.rank(); ++d) images.set_dim(d, out.dim(batch + d - 1));
  SLUICE_ASSIGN_OR_RETURN(
      const PartialShape convolved,
      attrs.OutputShape(images, filter.dims().subspan(0, space), filter.dim(space + 1)));
  for (int d = 1; d < layout.rank(); ++d) out.set_dim(batch + d - 1, convolved.dim(d));
  return c.SetOutput(0, out);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The ops of one kind of convolution. A convolution is linear in its input and in its filter, so
// the gradients of the three ops consist of the same ops.
struct Convolutions {
  const char *forward, *backprop_input, *backprop_filter;
};
constexpr Convolutions k2D = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
constexpr Convolutions k3D = {"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
constexpr Convolutions kDepthwise = {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                                     "DepthwiseConv2dNativeBackpropFilter"};

GradientFunction ForwardGradient(const Convolutions& ops) {
  return [&ops](Backprop& b) {
    Output x = b.Value("input"), filter = b.Value("filter"), grad = b.Of("output");
    OutputList shapes = ShapeN({x, filter});
    if (shapes.size() != 2) return;
    b.Into("input", Sibling(b, ops.backprop_input, {shapes[0], filter, grad}));
    b.Into("filter", Sibling(b, ops.backprop_filter, {x, shapes[1], grad}));
  };
}
GradientFunction BackpropInputGradient(const Convolutions& ops) {
  return [&ops](Backprop& b) {
    Output grad = b.Of("output"), filter = b.Value("filter");
    b.Into("filter",
           Sibling(b, ops.backprop_filter, {grad, ShapeOf(filter), b.Value("out_backprop")}));
    b.Into("out_backprop", Sibling(b, ops.forward, {grad, filter}));
  };
}
GradientFunction BackpropFilterGradient(const Convolutions& ops) {
  return [&ops](Backprop& b) {
    Output grad = b.Of("output"), x = b.Value("input");
    b.Into("input", Sibling(b, ops.backprop_input, {ShapeOf(x), grad, b.Value("out_backprop")}));
    b.Into("out_backprop", Sibling(b, ops.forward, {x, grad}));
  };
}
#endif

bool IsFilter(const PartialShape& s) {
  return s.rank() == 4 && s.IsFullyDefined() && s.num_elements() > 0;
}

ImageRoles RolesOfConv(std::initializer_list<int> images) {
  return {
      .images = images, .transposes_inside = true, .is_convolution = true, .fits_any_batch = true};
}

std::optional<ImageRoles> ImagesOfConv(const Node& node) {
  const bool fits = SlidesChannelsFirst(node, {"dilations"}) && IsImage(node.input(0).shape()) &&
                    IsFilter(node.input(1).shape()) && IsImage(node.output_shape(0));
  return fits ? std::make_optional(RolesOfConv({0})) : std::nullopt;
}

std::optional<ImageRoles> ImagesOfConvByInput(const Node& node) {
  const PartialShape &filter = node.input(1).shape(), &grad = node.input(2).shape();
  const PartialShape& out = node.output_shape(0);
  if (!SlidesChannelsFirst(node, {"dilations"}) || !IsImage(grad) || !IsFilter(filter) ||
      !IsImage(out) || !SlidesTo(node, out, {filter.dim(0), filter.dim(1)}, grad)) {
    return std::nullopt;
  }
  ImageRoles roles = RolesOfConv({2});
  // If there are only two sizes, they are height and width in both layouts.
  if (IsVectorOf(node.input(0), 4)) {
    roles.operand = 0;
  } else if (!IsVectorOf(node.input(0), 2)) {
    return std::nullopt;
  }
  return roles;
}

std::optional<ImageRoles> ImagesOfConvByFilter(const Node& node) {
  const PartialShape &in = node.input(0).shape(), &grad = node.input(2).shape();
  const PartialShape& filter = node.output_shape(0);
  if (!SlidesChannelsFirst(node, {"dilations"}) || !IsImage(in) || !IsImage(grad) ||
      !IsFilter(filter) || !SlidesTo(node, in, {filter.dim(0), filter.dim(1)}, grad)) {
    return std::nullopt;
  }
  ImageRoles roles = RolesOfConv({0, 2});
  roles.makes_image = false;
  return roles;
}

// Marks a node whose layout may change only if the batch sizes are equal. If they differ, a
// depthwise gradient fails with an error that contains the shapes, and another layout would permute
// the sizes in it.
template <std::optional<ImageRoles> (*kImages)(const Node&)>
std::optional<ImageRoles> ImagesOfOneBatch(const Node& node) {
  std::optional<ImageRoles> roles = kImages(node);
  if (roles) roles->fits_any_batch = false;
  return roles;
}

// These functions declare the arguments that several ops share, and their attributes in
// TensorFlow's order.
void Forward(OpDefBuilder& b) { b.Input("input", "T").Input("filter", "T").Output("output", "T"); }
void BackpropInput(OpDefBuilder& b) {
  b.Input("input_sizes", DT_INT32).Input("filter", "T").Input("out_backprop", "T");
  b.Output("output", "T");
}
void BackpropFilter(OpDefBuilder& b) {
  b.Input("input", "T").Input("filter_sizes", DT_INT32).Input("out_backprop", "T");
  b.Output("output", "T");
}
void Window2D(OpDefBuilder& b) {
  b.Attr("strides", IntListAttr()).Attr("use_cudnn_on_gpu", BoolAttr(true));
  b.With(AnyPadding).With(DataFormat(2)).With(Dilations(2));
}
void DepthwiseWindow(OpDefBuilder& b) {
  b.Attr("strides", IntListAttr()).With(AnyPadding).With(DataFormat(2)).With(Dilations(2));
}
void Window3D(OpDefBuilder& b) {
  b.With(StridesAndPadding(3)).With(DataFormat(3)).With(Dilations(3));
  b.KeepsLayout("images have three dimensions of space");
}

OP(Conv,
   "Convolves images or volumes that have batch_dims batch dimensions. strides, dilations and "
   "explicit_paddings (pairs before, after) have values for one batch dimension, the spatial "
   "dimensions and the channels, in the order of data_format.")
    .With(Forward)
    .Attr("T", TypeAttr(FloatTypes() | TypeSet{DT_INT32}))
    .Attr("strides", IntListAttr())
    .With(AnyPadding)
    .Attr("data_format", OneOf({"CHANNELS_FIRST", "CHANNELS_LAST"}, "CHANNELS_LAST"))
    .Attr("dilations", IntListAttr({}))
    .Attr("batch_dims", IntAttr(1))
    .Attr("groups", IntAttr(1))
    .KeepsLayout("the formats have other names")
    .Shape(AnyConvShape);

OP(Conv2D,
   "Convolves images with filters (cross correlation). If the filters have fewer input channels "
   "than the images, the channels form groups, and each group has its own filters. strides and "
   "dilations have a value for each dimension, explicit_paddings a pair (before, after).")
    .With(Forward)
    .Attr("T", TypeAttr(FloatTypes() | TypeSet{DT_INT32}))
    .With(Window2D)
    .Images(ImagesOfConv)
    .Recompute(MultiplyAddsOfConv)
    .Shape(ConvShape) GRADIENT(ForwardGradient(k2D));

OP(Conv2DBackpropFilter,
   "Computes the gradient of Conv2D with respect to its filter, whose shape is filter_sizes.")
    .With(BackpropFilter)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(Window2D)
    .Images(ImagesOfConvByFilter)
    .Shape(SizesShape<1, 4>) GRADIENT(BackpropFilterGradient(k2D));

OP(Conv2DBackpropInput,
   "Computes the gradient of Conv2D with respect to its input, whose shape is input_sizes (all "
   "four sizes, or only height and width). Also known as transposed convolution.")
    .With(BackpropInput)
    .Attr("T", TypeAttr(FloatTypes() | TypeSet{DT_INT32}))
    .With(Window2D)
    .ShapeInput(0)
    .Images(ImagesOfConvByInput)
    .Shape(Conv2DBackpropInputShape) GRADIENT(BackpropInputGradient(k2D));

OP(Conv3D,
   "Convolves volumes with filters (cross correlation). strides and dilations have a value for "
   "each dimension.")
    .With(Forward)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(Window3D)
    .Recompute(MultiplyAddsOfConv)
    .Shape(ConvShape) GRADIENT(ForwardGradient(k3D));

OP(Conv3DBackpropFilter,
   "Computes the gradient of Conv3D with respect to its filter. Uses only the shape of `filter`.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .With(StridesAndPadding(3))
    .With(Dilations(3))
    .Deprecated(10, "Use Conv3DBackpropFilterV2")
    .Shape(VolumeOfInput<1>);

OP(Conv3DBackpropFilterV2,
   "Computes the gradient of Conv3D with respect to its filter, whose shape is filter_sizes.")
    .With(BackpropFilter)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(Window3D)
    .Shape(SizesShape<1, 5>) GRADIENT(BackpropFilterGradient(k3D));

OP(Conv3DBackpropInput,
   "Computes the gradient of Conv3D with respect to its input. Uses only the shape of `input`.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .With(StridesAndPadding(3))
    .With(Dilations(3))
    .Deprecated(10, "Use Conv3DBackpropInputV2")
    .Shape(VolumeOfInput<0>);

OP(Conv3DBackpropInputV2,
   "Computes the gradient of Conv3D with respect to its input, whose shape is input_sizes. Also "
   "known as transposed convolution.")
    .Input("input_sizes", "Tshape")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .With(Window3D)
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(SizesShape<0, 5>) GRADIENT(BackpropInputGradient(k3D));

OP(DepthwiseConv2dNative,
   "Convolves each channel separately. Filters are [height, width, channels, m]. Output channel c "
   "* m + q is channel c under filter q.")
    .With(Forward)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(DepthwiseWindow)
    .Images(ImagesOfConv)
    .Recompute(MultiplyAddsOfDepthwise)
    .Shape(ConvShape) GRADIENT([](Backprop& b) {
      Output x = b.Value("input"), filter = b.Value("filter"), grad = b.Of("output");
      b.Into("input", Sibling(b, kDepthwise.backprop_input, {ShapeOf(x), filter, grad}));
      b.Into("filter", Sibling(b, kDepthwise.backprop_filter, {x, ShapeOf(filter), grad}));
    });

OP(DepthwiseConv2dNativeBackpropFilter,
   "Computes the gradient of DepthwiseConv2dNative with respect to its filter, whose shape is "
   "filter_sizes.")
    .With(BackpropFilter)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(DepthwiseWindow)
    .Images(ImagesOfOneBatch<ImagesOfConvByFilter>)
    .Shape(SizesShape<1, 4>) GRADIENT(BackpropFilterGradient(kDepthwise));

OP(DepthwiseConv2dNativeBackpropInput,
   "Computes the gradient of DepthwiseConv2dNative with respect to its input, whose shape is "
   "input_sizes.")
    .With(BackpropInput)
    .Attr("T", TypeAttr(FloatTypes()))
    .With(DepthwiseWindow)
    .Images(ImagesOfOneBatch<ImagesOfConvByInput>)
    .Shape(SizesShape<0, 4>) GRADIENT(BackpropInputGradient(kDepthwise));

}  // namespace
}  // namespace sluice
