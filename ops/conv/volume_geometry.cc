#include "ops/conv/volume_geometry.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {
namespace {

// Positions of the window along the three dimensions.
absl::Status Slide(const VolumeSliding& sliding, VolumeGeometry* g) {
  for (int d = 0; d < 3; ++d) {
    const Sliding& along = sliding.along[d];
    SLUICE_ASSIGN_OR_RETURN(const Window w, SlideWindow(g->in[d], g->window[d], along));
    g->out[d] = w.outputs;
    g->pad[d] = w.before;
    g->stride[d] = along.stride;
    g->dilation[d] = along.dilation;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VolumeSliding> VolumeSlidingOf(std::string_view op, std::string_view data_format,
                                              const std::vector<int64_t>& strides,
                                              const std::vector<int64_t>& dilations,
                                              std::string_view padding) {
  if (strides.size() != 5) {
    return InvalidArgument("Sliding window strides field must specify 5 dimensions, got ",
                           strides.size());
  }
  if (dilations.size() != 5) {
    return InvalidArgument("Dilation rates field must specify 5 dimensions, got ",
                           dilations.size());
  }
  const VolumeLayout layout = VolumeLayout::Of(data_format);
  VolumeSliding sliding;
  for (int d = 0; d < 3; ++d) {
    const int64_t stride = strides[layout.space + d], dilation = dilations[layout.space + d];
    if (stride <= 0)
      return InvalidArgument("Spatial strides should be larger than 0, got ", stride);
    if (dilation <= 0) {
      return InvalidArgument("Dilated rates should be larger than 0, got ", dilation);
    }
    sliding.along[d] = {.stride = stride, .dilation = dilation, .padding = PaddingOf(padding)};
  }
  const bool is_pool = op.find("Pool") != std::string_view::npos;
  for (int d : {0, layout.channel}) {
    if (strides[d] == 1 && dilations[d] == 1) continue;
    const std::string what = d == 0 ? "batch" : "depth";
    if (is_pool) {
      return absl::UnimplementedError("Pooling is not yet supported on the " + what +
                                      " dimension.");
    }
    return InvalidArgument(
        "Current implementation does not yet support strides or dilation rates in the ", what,
        " dimension.");
  }
  return sliding;
}

absl::StatusOr<VolumeGeometry> ConvolutionOf(std::string_view op, const VolumeLayout& layout,
                                             const VolumeSliding& sliding, const TensorShape& input,
                                             const TensorShape& filter) {
  if (input.rank() != 5) {
    return InvalidArgument("input must be 5-dimensional, got shape ", input.ToString());
  }
  if (filter.rank() != 5) {
    return InvalidArgument("filter must be 5-dimensional, got shape ", filter.ToString());
  }
  VolumeGeometry g;
  g.batch = input.dim(0);
  g.in_channels = input.dim(layout.channel);
  g.out_channels = filter.dim(4);
  if (filter.dim(3) == 0 || filter.num_elements() == 0) {
    return InvalidArgument("filter must not have zero elements, got shape ", filter.ToString());
  }
  if (filter.dim(3) != g.in_channels) {
    return InvalidArgument("Number of channels in filter (", filter.dim(3),
                           ") must match that of input (", g.in_channels, ")");
  }
  for (int d = 0; d < 3; ++d) {
    g.in[d] = input.dim(layout.space + d);
    g.window[d] = filter.dim(d);
  }
  SLUICE_RETURN_IF_ERROR(Slide(sliding, &g));
  return g;
}

absl::StatusOr<VolumeGeometry> ConvolutionOf(std::string_view op, const VolumeLayout& layout,
                                             const VolumeSliding& sliding, const TensorShape& input,
                                             const TensorShape& filter, const TensorShape& grad) {
  SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g,
                          ConvolutionOf(op, layout, sliding, input, filter));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape expected, OutputShape(layout, g));
  if (grad == expected) return g;
  return InvalidArgument(op, ": out_backprop must have shape ", expected.ToString(), ", got ",
                         grad.ToString());
}

absl::StatusOr<VolumeGeometry> PoolOf(std::string_view op, const VolumeLayout& layout,
                                      const VolumeSliding& sliding,
                                      const std::vector<int64_t>& ksize, const TensorShape& input) {
  if (input.rank() != 5) {
    return InvalidArgument("tensor_in must be 5-dimensional, got shape ", input.ToString());
  }
  if (ksize.size() != 5) {
    return InvalidArgument("Sliding window ksize field must specify 5 dimensions, got ",
                           ksize.size());
  }
  if (*std::min_element(ksize.begin(), ksize.end()) <= 0) {
    return InvalidArgument("Sliding window ksize field must have positive values");
  }
  if (ksize[0] != 1) {
    return absl::UnimplementedError("Pooling is not yet supported on the batch dimension.");
  }
  if (ksize[layout.channel] != 1) {
    return absl::UnimplementedError("Pooling is not yet supported on the depth dimension.");
  }
  VolumeGeometry g;
  g.batch = input.dim(0);
  g.in_channels = g.out_channels = input.dim(layout.channel);
  for (int d = 0; d < 3; ++d) {
    g.in[d] = input.dim(layout.space + d);
    g.window[d] = ksize[layout.space + d];
  }
  SLUICE_RETURN_IF_ERROR(Slide(sliding, &g));
  return g;
}

absl::StatusOr<PartialShape> ConvolvedVolume(const VolumeLayout& layout,
                                             const VolumeSliding& sliding,
                                             const PartialShape& input,
                                             const PartialShape& filter) {
  PartialShape output = PartialShape::UnknownOfRank(5);
  output.set_dim(0, input.dim(0));
  for (int d = 0; d < 3; ++d) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t size, WindowOutputs(input.dim(layout.space + d),
                                                              filter.dim(d), sliding.along[d]));
    output.set_dim(layout.space + d, size);
  }
  output.set_dim(layout.channel, filter.dim(4));
  return output;
}

absl::StatusOr<TensorShape> OutputShape(const VolumeLayout& layout, const VolumeGeometry& g) {
  std::array<int64_t, 5> dims;
  dims[0] = g.batch;
  for (int d = 0; d < 3; ++d) dims[layout.space + d] = g.out[d];
  dims[layout.channel] = g.out_channels;
  return TensorShape::Make(dims);
}

}  // namespace sluice
