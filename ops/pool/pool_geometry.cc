#include "ops/pool/pool_geometry.h"

#include <array>

#include "absl/strings/str_join.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<std::vector<int64_t>> FourInts(const Tensor& t, std::string_view what) {
  if (t.num_elements() != 4) {
    return InvalidArgument("Sliding window ", what, " field must specify 4 dimensions");
  }
  return std::vector<int64_t>(t.flat<int32_t>().begin(), t.flat<int32_t>().end());
}

// A window is over space or over channels; channels only in windows side by side.
absl::Status CheckWindow(const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
                         const ImageLayout& layout, const std::string& op, int64_t channels) {
  if (*std::min_element(ksize.begin(), ksize.end()) <= 0) {
    return InvalidArgument(
        "Sliding window ksize must be positive. The specified or inferred ksize "
        "is: ",
        absl::StrJoin(ksize, ","));
  }
  if (ksize[layout.batch] != 1 || strides[layout.batch] != 1) {
    return absl::UnimplementedError("Pooling is not yet supported on the batch dimension.");
  }
  const int64_t window = ksize[layout.channel];
  if (window == 1 && strides[layout.channel] == 1) return absl::OkStatus();
  if (op == "AvgPool" || op == "AvgPoolGrad") {
    return absl::UnimplementedError("Non-spatial pooling is not yet supported.");
  }
  if (op != "MaxPool" && op != "MaxPoolV2") {
    return absl::UnimplementedError(StrCat(op, " is not yet supported on the depth dimension."));
  }
  if (window > 1 && (ksize[layout.height] != 1 || ksize[layout.width] != 1)) {
    return absl::UnimplementedError(
        "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (channels % window != 0) {
    return absl::UnimplementedError(
        "Depthwise max pooling requires the depth window to evenly divide the input depth");
  }
  if (strides[layout.channel] != window) {
    return absl::UnimplementedError(
        "Depthwise max pooling requires the depth window to equal the depth stride");
  }
  return absl::OkStatus();
}

absl::Status CheckPadding(const char* side, int64_t padding, int64_t window) {
  if (padding < window) return absl::OkStatus();
  return InvalidArgument(side, " padding ", padding, " needs to be smaller than the window size ",
                         window);
}

}  // namespace

PoolAttrs::PoolAttrs(const KernelInit& init)
    : op_(init.node().op()),
      data_format_(init.attr<std::string>("data_format")),
      padding_(init.attr<std::string>("padding")),
      layout_(ImageLayout::Of(data_format_)),
      ksize_(init.AttrOr<std::vector<int64_t>>("ksize", {})),
      strides_(init.AttrOr<std::vector<int64_t>>("strides", {})),
      explicit_paddings_(init.AttrOr<std::vector<int64_t>>("explicit_paddings", {})) {}

absl::StatusOr<PoolGeometry> PoolAttrs::Geometry(KernelContext& context, const TensorShape& shape,
                                                 int first) const {
  if (shape.rank() != 4) return InvalidArgument("tensor_in must be 4-dimensional");
  std::vector<int64_t> given_ksize, given_strides;
  if (ksize_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(given_ksize, FourInts(context.input(first), "ksize"));
    SLUICE_ASSIGN_OR_RETURN(given_strides, FourInts(context.input(first + 1), "stride"));
  }
  const std::vector<int64_t>& ksize = ksize_.empty() ? given_ksize : ksize_;
  const std::vector<int64_t>& strides = ksize_.empty() ? given_strides : strides_;
  static const auto& no_dilations = *new std::vector<int64_t>(4, 1);
  if (ksize.size() != 4) {
    return InvalidArgument("Sliding window ksize field must specify 4 dimensions");
  }
  SLUICE_ASSIGN_OR_RETURN(
      const ImageSliding sliding,
      ImageSlidingOf(op_, data_format_, strides, no_dilations, padding_, explicit_paddings_));
  SLUICE_RETURN_IF_ERROR(CheckWindow(ksize, strides, layout_, op_, shape.dim(layout_.channel)));
  PoolGeometry g;
  g.batch = shape.dim(layout_.batch);
  g.channels = shape.dim(layout_.channel);
  g.in_height = shape.dim(layout_.height);
  g.in_width = shape.dim(layout_.width);
  g.window_height = ksize[layout_.height];
  g.window_width = ksize[layout_.width];
  g.channel_window = ksize[layout_.channel];
  g.stride_height = sliding.height.stride;
  g.stride_width = sliding.width.stride;
  SLUICE_ASSIGN_OR_RETURN(const Window height,
                          SlideWindow(g.in_height, g.window_height, sliding.height));
  SLUICE_ASSIGN_OR_RETURN(const Window width,
                          SlideWindow(g.in_width, g.window_width, sliding.width));
  if (sliding.height.padding == Padding::kExplicit) {
    // Every window must touch the image.
    SLUICE_RETURN_IF_ERROR(CheckPadding("Top", height.before, g.window_height));
    SLUICE_RETURN_IF_ERROR(CheckPadding("Bottom", height.after, g.window_height));
    SLUICE_RETURN_IF_ERROR(CheckPadding("Left", width.before, g.window_width));
    SLUICE_RETURN_IF_ERROR(CheckPadding("Right", width.after, g.window_width));
  }
  g.out_height = height.outputs;
  g.out_width = width.outputs;
  g.pad_top = height.before;
  g.pad_left = width.before;
  return g;
}

absl::StatusOr<TensorShape> PoolAttrs::OutputShape(const PoolGeometry& g) const {
  std::array<int64_t, 4> dims;
  dims[layout_.batch] = g.batch;
  dims[layout_.height] = g.out_height;
  dims[layout_.width] = g.out_width;
  dims[layout_.channel] = g.out_channels();
  return TensorShape::Make(dims);
}

}  // namespace sluice
