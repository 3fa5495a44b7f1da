#include "ops/conv/conv_geometry.h"

#include "graph/infer/shape_context.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Checks the numbers of channels of a grouped convolution when the graph is built. A negative
// number is unknown.
absl::Status CheckGroups(int64_t channels, int64_t of_filter, int64_t out) {
  if (channels < 0 || of_filter < 0) return absl::OkStatus();
  SLUICE_INVALID_IF(of_filter == 0, "Depth of filter must not be 0");
  SLUICE_INVALID_IF(channels % of_filter != 0, "Depth of input (", channels,
                    ") is not a multiple of input depth of filter (", of_filter, ")");
  const int64_t groups = channels / of_filter;
  SLUICE_INVALID_IF(groups < 1, "Number of groups must be at least 1, got ", groups);
  if (out < 0 || out % groups == 0) return absl::OkStatus();
  return InvalidArgument("Depth of output (", out, ") is not a multiple of the number of groups (",
                         groups, ")");
}

// Sets the channels of `g` from the filter's last two sizes, `of_filter` and `outputs`.
absl::Status SetChannels(FilterKind kind, int64_t of_filter, int64_t outputs, WindowGeometry* g) {
  g->window_channels = of_filter;
  g->out_channels = outputs;
  SLUICE_INVALID_IF(kind != FilterKind::kGrouped && of_filter != g->in_channels,
                    "input and filter must have the same depth (channels): ", g->in_channels,
                    " vs ", of_filter);
  if (kind == FilterKind::kDepthwise) {
    g->window_channels = 1;
    g->out_channels = MultiplyWithoutOverflow(of_filter, outputs);
    if (g->out_channels >= 0) return absl::OkStatus();
    return InvalidArgument("filter of ", of_filter, " x ", outputs, " channels is too large");
  }
  SLUICE_INVALID_IF(of_filter == 0, "filter depth must be stricly positive, got 0");
  SLUICE_INVALID_IF(g->in_channels % of_filter != 0,
                    "input depth must be evenly divisible by filter depth: ", g->in_channels,
                    " vs ", of_filter);
  const int64_t groups = g->groups();
  SLUICE_INVALID_IF(groups > 1 && outputs % groups != 0,
                    "output depth must be evenly divisible by number of groups: ", outputs, " vs ",
                    groups);
  return absl::OkStatus();
}

// Also accepts inputs without channels. The number of groups is 0 then.
absl::StatusOr<WindowGeometry> GeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                          const TensorShape& filter) {
  const int rank = attrs.layout.rank();
  SLUICE_INVALID_IF(input.rank() != rank, "convolution input must be ", rank,
                    "-dimensional: ", input.ToString());
  SLUICE_INVALID_IF(filter.rank() != rank, "convolution filter must be ", rank,
                    "-dimensional: ", filter.ToString());
  const FilterKind kind = FilterKindOf(attrs.op);
  const int64_t outputs = filter.dim(rank - 1);
  const auto window = filter.dims().subspan(0, static_cast<size_t>(rank - 2));
  SLUICE_INVALID_IF(std::count(window.begin(), window.end(), 0) > 0 ||
                        (kind == FilterKind::kWhole && outputs == 0),
                    "filter must not have zero elements (i.e. all dimensions must be non-zero)");
  SLUICE_ASSIGN_OR_RETURN(WindowGeometry g, attrs.Slide(input, window));
  SLUICE_RETURN_IF_ERROR(SetChannels(kind, filter.dim(rank - 2), outputs, &g));
  return g;
}

}  // namespace

FilterKind FilterKindOf(std::string_view op) {
  const auto has = [op](std::string_view part) { return op.find(part) != std::string_view::npos; };
  if (has("Depthwise")) return FilterKind::kDepthwise;
  return has("Conv2D") && !has("Pad") ? FilterKind::kGrouped : FilterKind::kWhole;
}

absl::StatusOr<PartialShape> ConvolvedShape(const WindowAttrs& attrs, const PartialShape& images,
                                            const PartialShape& filter) {
  const int space = attrs.layout.space;
  const int64_t in = images.dim(attrs.layout.channel()), of_filter = filter.dim(space);
  int64_t out = filter.dim(space + 1);
  if (FilterKindOf(attrs.op) == FilterKind::kGrouped) {
    SLUICE_RETURN_IF_ERROR(CheckGroups(in, of_filter, out));
  } else {
    SLUICE_ASSIGN_OR_RETURN(const int64_t channels, MergeDim(in, of_filter));
    if (FilterKindOf(attrs.op) == FilterKind::kDepthwise) {
      out = channels < 0 || out < 0 ? -1 : MultiplyWithoutOverflow(channels, out);
    }
  }
  return attrs.OutputShape(images, filter.dims().subspan(0, static_cast<size_t>(space)), out);
}

absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter) {
  SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g, GeometryOf(attrs, input, filter));
  if (g.groups() > 0 || FilterKindOf(attrs.op) == FilterKind::kDepthwise) return g;
  return InvalidArgument("number of groups must be stricly positive, got ", g.groups());
}

absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter, const TensorShape& grad) {
  SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g, GeometryOf(attrs, input, filter));
  const ImageLayout& layout = attrs.layout;
  SLUICE_INVALID_IF(grad.rank() != layout.rank(), attrs.op, ": out_backprop must be ",
                    layout.rank(), "-dimensional");
  SLUICE_INVALID_IF(
      grad.dim(0) != g.batch, attrs.op, ": input and out_backprop must have the same batch size. ",
      "Input batch: ", g.batch, ", outbackprop batch: ", grad.dim(0), ", batch_dim: 0");
  SLUICE_INVALID_IF(grad.dim(layout.channel()) != g.out_channels, attrs.op,
                    ": filter and out_backprop must have the same out_depth. Filter: ",
                    g.out_channels, ", out_backprop: ", grad.dim(layout.channel()));
  for (int d = 0; d < layout.space; ++d) {
    const int64_t actual = grad.dim(layout.at(d));
    const int of = d + 3 - layout.space;
    if (actual == g.out[of]) continue;
    return InvalidArgument(attrs.op,
                           ": Size of out_backprop doesn't match computed: actual = ", actual,
                           ", computed = ", g.out[of], " spatial_dim: ", layout.at(d),
                           " input: ", g.in[of], " filter: ", g.window[of], " output: ", actual,
                           " stride: ", g.stride[of], " dilation: ", g.dilation[of]);
  }
  return g;
}

}  // namespace sluice
