// Convolutions over volumes, and what their gradients are made of. Volumes are [batch, depth,
// height, width, channels] (data_format NDHWC) or [batch, channels, depth, height, width] (NCDHW);
// filters are [depth, height, width, channels in, channels out] for both.
#include <algorithm>

#include "ops/conv/volume_geometry.h"
#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/conv/conv3d_builders.h"
#endif

namespace sluice {
namespace {

absl::Status Conv3DShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, 5));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, 5));
  const std::string& format = c.attr<std::string>("data_format");
  const VolumeLayout layout = VolumeLayout::Of(format);
  SLUICE_ASSIGN_OR_RETURN(
      const VolumeSliding sliding,
      VolumeSlidingOf(c.node().op(), format, c.attr<std::vector<int64_t>>("strides"),
                      c.attr<std::vector<int64_t>>("dilations"), c.attr<std::string>("padding")));
  SLUICE_RETURN_IF_ERROR(MergeDim(input.dim(layout.channel), filter.dim(3)).status());
  SLUICE_ASSIGN_OR_RETURN(PartialShape output, ConvolvedVolume(layout, sliding, input, filter));
  return c.SetOutput(0, output);
}

// The output's shape is input kInput: as a tensor's, or as five integers.
template <int kInput>
absl::Status ShapeOfInput(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape shape, c.WithRank(kInput, 5));
  return c.SetOutput(0, shape);
}
template <int kInput>
absl::Status VolumeSizesShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape sizes, c.InputAsShape(kInput));
  SLUICE_ASSIGN_OR_RETURN(sizes, WithRank(sizes, 5));
  return c.SetOutput(0, sizes);
}

// Conv: filters have a dimension of space each, and two of channels.
absl::Status VolumeConvShape(ShapeContext& c) {
  const PartialShape& filter = c.input(1);
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  if (batch_dims < 0 || batch_dims > TensorShape::kMaxRank) {
    return InvalidArgument("batch_dims must be from 0 to ", TensorShape::kMaxRank, ", got ",
                           batch_dims);
  }
  if (!filter.rank_known()) return c.SetOutput(0, PartialShape::UnknownRank());
  const int space = filter.rank() - 2, batch = static_cast<int>(batch_dims);
  if (space < 0) return InvalidArgument("filter must have at least 2 dimensions");
  SLUICE_ASSIGN_OR_RETURN(PartialShape input, c.WithRank(0, batch + space + 1));
  const auto& strides = c.attr<std::vector<int64_t>>("strides");
  const auto& dilations = c.attr<std::vector<int64_t>>("dilations");
  const auto& paddings = c.attr<std::vector<int64_t>>("explicit_paddings");
  const Padding padding = PaddingOf(c.attr<std::string>("padding"));
  const auto all = static_cast<size_t>(space) + 2;
  if (strides.size() != all || (!dilations.empty() && dilations.size() != all)) {
    return InvalidArgument("Sliding window strides and dilations must specify ", all,
                           " dimensions, got ", strides.size(), " and ", dilations.size());
  }
  if (padding == Padding::kExplicit && paddings.size() != 2 * all) {
    return InvalidArgument("explicit_paddings must have ", 2 * all, " values, got ",
                           paddings.size());
  }
  const bool is_first = c.attr<std::string>("data_format") == "CHANNELS_FIRST";
  PartialShape output = input;
  if (!output.rank_known()) output = PartialShape::UnknownOfRank(batch + space + 1);
  for (int d = 0; d < space; ++d) {
    const int at = d + (is_first ? 2 : 1), to = batch + d + (is_first ? 1 : 0);
    Sliding along{.stride = strides[at], .padding = padding};
    if (!dilations.empty()) along.dilation = dilations[at];
    if (padding == Padding::kExplicit) {
      along.before = paddings[2 * at];
      along.after = paddings[2 * at + 1];
    }
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, WindowOutputs(input.dim(to), filter.dim(d), along));
    output.set_dim(to, size);
  }
  output.set_dim(is_first ? batch : batch + space, filter.dim(space + 1));
  return c.SetOutput(0, output);
}

#ifndef SLUICE_DEFINITIONS_ONLY
// The three ops of one convolution. It is linear in its input and in its filter, so the gradients
// are these same three again.
struct Conv3DOps {
  Backprop& b;
  std::vector<int64_t> strides = b.attr<std::vector<int64_t>>("strides");
  std::vector<int64_t> dilations = b.attr<std::vector<int64_t>>("dilations");
  std::string padding = b.attr<std::string>("padding");
  std::string data_format = b.attr<std::string>("data_format");

  Output Forward(Output x, Output filter) const {
    return Conv3D(x, filter, strides, padding,
                  {.data_format = data_format, .dilations = dilations});
  }
  Output ByInput(Output sizes, Output filter, Output grad) const {
    return Conv3DBackpropInputV2(sizes, filter, grad, strides, padding,
                                 {.data_format = data_format, .dilations = dilations});
  }
  Output ByFilter(Output x, Output sizes, Output grad) const {
    return Conv3DBackpropFilterV2(x, sizes, grad, strides, padding,
                                  {.data_format = data_format, .dilations = dilations});
  }
};
#endif

OP(Conv,
   "Convolution of images or volumes behind batch_dims batch dimensions. strides, dilations and "
   "explicit_paddings (pairs before, after) are of a batch dimension, the dimensions of space and "
   "the channels, in the order of data_format.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE, DT_INT32}))
    .Attr("strides", IntListAttr())
    .Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
    .Attr("explicit_paddings", IntListAttr({}))
    .Attr("data_format", OneOf({"CHANNELS_FIRST", "CHANNELS_LAST"}, "CHANNELS_LAST"))
    .Attr("dilations", IntListAttr({}))
    .Attr("batch_dims", IntAttr(1))
    .Attr("groups", IntAttr(1))
    .Shape(VolumeConvShape);

OP(Conv3D,
   "Convolution (cross correlation) of volumes and filters. Five strides and dilations, one a "
   "dimension.")
    .Input("input", "T")
    .Input("filter", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Shape(Conv3DShape) GRADIENT([](Backprop& b) {
      const Conv3DOps ops{b};
      Output x = b.Value("input"), filter = b.Value("filter"), grad = b.Of("output");
      OutputList shapes = ShapeN({x, filter});
      if (shapes.size() != 2) return;
      b.Into("input", ops.ByInput(shapes[0], filter, grad));
      b.Into("filter", ops.ByFilter(x, shapes[1], grad));
    });

OP(Conv3DBackpropFilter,
   "Gradient of Conv3D by its filter. The values of `filter` do not matter, its shape does.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Deprecated(10, "Use Conv3DBackpropFilterV2")
    .Shape(ShapeOfInput<1>);

OP(Conv3DBackpropFilterV2, "Gradient of Conv3D by its filter, whose shape is filter_sizes.")
    .Input("input", "T")
    .Input("filter_sizes", DT_INT32)
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Shape(VolumeSizesShape<1>) GRADIENT([](Backprop& b) {
      const Conv3DOps ops{b};
      Output grad = b.Of("output");
      b.Into("input", ops.ByInput(ShapeOf(b.Value("input")), grad, b.Value("out_backprop")));
      b.Into("out_backprop", ops.Forward(b.Value("input"), grad));
    });

OP(Conv3DBackpropInput,
   "Gradient of Conv3D by its input. The values of `input` do not matter, its shape does.")
    .Input("input", "T")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(TypeSet{DT_HALF, DT_FLOAT, DT_DOUBLE}))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Deprecated(10, "Use Conv3DBackpropInputV2")
    .Shape(ShapeOfInput<0>);

OP(Conv3DBackpropInputV2,
   "Gradient of Conv3D by its input, whose shape is input_sizes. Also known as transposed "
   "convolution.")
    .Input("input_sizes", "Tshape")
    .Input("filter", "T")
    .Input("out_backprop", "T")
    .Output("output", "T")
    .Attr("T", TypeAttr(FloatTypes()))
    .Attr("strides", IntListAttr().Min(5))
    .Attr("padding", OneOf({"SAME", "VALID"}))
    .Attr("data_format", OneOf({"NDHWC", "NCDHW"}, "NDHWC"))
    .Attr("dilations", IntListAttr({1, 1, 1, 1, 1}))
    .Attr("Tshape", TypeAttr(IndexTypes(), DT_INT32))
    .Shape(VolumeSizesShape<0>) GRADIENT([](Backprop& b) {
      const Conv3DOps ops{b};
      Output grad = b.Of("output");
      b.Into("filter", ops.ByFilter(grad, ShapeOf(b.Value("filter")), b.Value("out_backprop")));
      b.Into("out_backprop", ops.Forward(grad, b.Value("filter")));
    });

}  // namespace
}  // namespace sluice
