#include "ops/conv/conv_geometry.h"

#include <array>

#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "ops/loops/int_tensor.h"

namespace sluice {

absl::StatusOr<ConvAttrs> ConvAttrs::Of(const KernelInit& init) {
  ConvAttrs a;
  a.op = init.node().op();
  a.data_format = init.attr<std::string>("data_format");
  a.layout = ImageLayout::Of(a.data_format);
  const auto& strides = init.attr<std::vector<int64_t>>("strides");
  const auto& dilations = init.attr<std::vector<int64_t>>("dilations");
  SLUICE_ASSIGN_OR_RETURN(
      a.sliding,
      ImageSlidingOf(a.op, a.data_format, strides, dilations, init.attr<std::string>("padding"),
                     init.attr<std::vector<int64_t>>("explicit_paddings")));
  const auto unsupported = a.op == "Conv2D" ? absl::UnimplementedError : absl::InvalidArgumentError;
  if (strides[a.layout.batch] != 1 || strides[a.layout.channel] != 1) {
    return unsupported(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  if (dilations[a.layout.batch] != 1 || dilations[a.layout.channel] != 1) {
    return unsupported(
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  }
  return a;
}

namespace {

// Groups are 0 where the input has no channels.
absl::StatusOr<ConvGeometry> GeometryOf(const ConvAttrs& attrs, const TensorShape& input,
                                        const TensorShape& filter) {
  if (input.rank() != 4) {
    return InvalidArgument("convolution input must be 4-dimensional: ", input.ToString());
  }
  if (filter.rank() != 4) {
    return InvalidArgument("convolution filter must be 4-dimensional: ", filter.ToString());
  }
  ConvGeometry g;
  g.batch = input.dim(attrs.layout.batch);
  g.in_height = input.dim(attrs.layout.height);
  g.in_width = input.dim(attrs.layout.width);
  g.in_channels = input.dim(attrs.layout.channel);
  g.filter_height = filter.dim(0);
  g.filter_width = filter.dim(1);
  g.filter_channels = filter.dim(2);
  g.out_channels = filter.dim(3);
  if (g.filter_channels == 0)
    return InvalidArgument("filter depth must be stricly positive, got 0");
  if (g.in_channels % g.filter_channels != 0) {
    return InvalidArgument("input depth must be evenly divisible by filter depth: ", g.in_channels,
                           " vs ", g.filter_channels);
  }
  if (g.filter_height == 0 || g.filter_width == 0) {
    return InvalidArgument(
        "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  }
  g.groups = g.in_channels / g.filter_channels;
  if (g.groups > 1 && g.out_channels % g.groups != 0) {
    return InvalidArgument("output depth must be evenly divisible by number of groups: ",
                           g.out_channels, " vs ", g.groups);
  }
  SLUICE_ASSIGN_OR_RETURN(const Window height,
                          SlideWindow(g.in_height, g.filter_height, attrs.sliding.height));
  SLUICE_ASSIGN_OR_RETURN(const Window width,
                          SlideWindow(g.in_width, g.filter_width, attrs.sliding.width));
  g.out_height = height.outputs;
  g.out_width = width.outputs;
  g.pad_top = height.before;
  g.pad_left = width.before;
  g.stride_height = attrs.sliding.height.stride;
  g.stride_width = attrs.sliding.width.stride;
  g.dilation_height = attrs.sliding.height.dilation;
  g.dilation_width = attrs.sliding.width.dilation;
  return g;
}

}  // namespace

absl::StatusOr<ConvGeometry> ConvGeometryOf(const ConvAttrs& attrs, const TensorShape& input,
                                            const TensorShape& filter) {
  SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g, GeometryOf(attrs, input, filter));
  if (g.groups > 0) return g;
  return InvalidArgument("number of groups must be stricly positive, got ", g.groups);
}

absl::StatusOr<ConvGeometry> ConvGeometryOf(const ConvAttrs& attrs, const TensorShape& input,
                                            const TensorShape& filter, const TensorShape& grad) {
  SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g, GeometryOf(attrs, input, filter));
  if (grad.rank() != 4) {
    return InvalidArgument(attrs.op, ": out_backprop must be 4-dimensional");
  }
  if (grad.dim(attrs.layout.batch) != g.batch) {
    return InvalidArgument(attrs.op, ": input and out_backprop must have the same batch size. ",
                           "Input batch: ", g.batch,
                           ", outbackprop batch: ", grad.dim(attrs.layout.batch),
                           ", batch_dim: ", attrs.layout.batch);
  }
  if (grad.dim(attrs.layout.channel) != g.out_channels) {
    return InvalidArgument(attrs.op,
                           ": filter and out_backprop must have the same out_depth. Filter: ",
                           g.out_channels, ", out_backprop: ", grad.dim(attrs.layout.channel));
  }
  struct Side {
    int dim;
    int64_t computed, input, filter, stride, dilation;
  };
  for (const Side& s : {Side{attrs.layout.height, g.out_height, g.in_height, g.filter_height,
                             g.stride_height, g.dilation_height},
                        Side{attrs.layout.width, g.out_width, g.in_width, g.filter_width,
                             g.stride_width, g.dilation_width}}) {
    if (grad.dim(s.dim) == s.computed) continue;
    return InvalidArgument(attrs.op, ": Size of out_backprop doesn't match computed: actual = ",
                           grad.dim(s.dim), ", computed = ", s.computed, " spatial_dim: ", s.dim,
                           " input: ", s.input, " filter: ", s.filter, " output: ", grad.dim(s.dim),
                           " stride: ", s.stride, " dilation: ", s.dilation);
  }
  return g;
}

absl::StatusOr<TensorShape> ConvOutputShape(const ConvAttrs& attrs, const ConvGeometry& g) {
  std::array<int64_t, 4> dims;
  dims[attrs.layout.batch] = g.batch;
  dims[attrs.layout.height] = g.out_height;
  dims[attrs.layout.width] = g.out_width;
  dims[attrs.layout.channel] = g.out_channels;
  return TensorShape::Make(dims);
}

absl::StatusOr<TensorShape> ImageSizes(const ConvAttrs& attrs, const Tensor& sizes, int64_t batch,
                                       int64_t channels) {
  if (!sizes.shape().IsVector()) {
    return InvalidArgument(attrs.op, ": input_sizes input must be 1-dim, not ", sizes.rank());
  }
  Ints dims = IntsOf(sizes);
  if (dims.size() == 2) {
    Ints all(4);
    all[attrs.layout.batch] = batch;
    all[attrs.layout.height] = dims[0];
    all[attrs.layout.width] = dims[1];
    all[attrs.layout.channel] = channels;
    dims = std::move(all);
  }
  if (dims.size() != 4) {
    return InvalidArgument(attrs.op,
                           " requires input_sizes to contain 4 values or 2 values, but "
                           "got: ",
                           dims.size());
  }
  return TensorShape::Make(dims);
}

}  // namespace sluice
