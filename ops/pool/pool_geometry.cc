#include "ops/pool/pool_geometry.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<std::vector<int64_t>> SizesOf(const Tensor& t, std::string_view what) {
  SLUICE_INVALID_IF(t.num_elements() != 4, "Sliding window ", what,
                    " field must specify 4 dimensions");
  return std::vector<int64_t>(t.flat<int32_t>().begin(), t.flat<int32_t>().end());
}

// Checks a window that extends over channels: they must be adjacent, and it must not extend in
// space.
absl::Status CheckChannelWindow(const WindowAttrs& a, const std::vector<int64_t>& ksize,
                                int64_t channels) {
  const auto channel = static_cast<size_t>(a.layout.channel());
  const int64_t window = ksize[channel], stride = a.strides[channel];
  if (window == 1 && stride == 1) return absl::OkStatus();
  if (a.op == "AvgPool" || a.op == "AvgPoolGrad" || a.op == "QuantizedAvgPool") {
    return absl::UnimplementedError("Non-spatial pooling is not yet supported.");
  }
  if (a.op != "MaxPool" && a.op != "MaxPoolV2" && a.op != "QuantizedMaxPool") {
    return absl::UnimplementedError(StrCat(a.layout.space == 2 ? a.op : "Pooling",
                                           " is not yet supported on the depth dimension."));
  }
  const auto space = a.SpaceOf(ksize);
  if (window > 1 && std::count(space.begin(), space.end(), 1) != a.layout.space) {
    return absl::UnimplementedError(
        "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (channels % window != 0) {
    return absl::UnimplementedError(
        "Depthwise max pooling requires the depth window to evenly divide the input depth");
  }
  if (stride == window) return absl::OkStatus();
  return absl::UnimplementedError(
      "Depthwise max pooling requires the depth window to equal the depth stride");
}

absl::Status CheckSizes(const WindowAttrs& a, const std::vector<int64_t>& ksize, int64_t channels) {
  SLUICE_INVALID_IF(ksize.size() != static_cast<size_t>(a.layout.rank()),
                    "Sliding window ksize field must specify ", a.layout.rank(), " dimensions");
  SLUICE_INVALID_IF(*std::min_element(ksize.begin(), ksize.end()) <= 0,
                    "Sliding window ksize must be positive. The specified or inferred ksize is: ",
                    absl::StrJoin(ksize, ","));
  if (ksize[0] != 1 || a.strides[0] != 1) {
    return absl::UnimplementedError("Pooling is not yet supported on the batch dimension.");
  }
  return CheckChannelWindow(a, ksize, channels);
}

// Checks that every window touches the image.
absl::Status CheckPaddings(const WindowAttrs& a, absl::Span<const int64_t> window) {
  static constexpr const char* kSides[2][2] = {{"Top", "Bottom"}, {"Left", "Right"}};
  for (int d = 0; d < a.layout.space && a.along[0].padding == Padding::kExplicit; ++d) {
    for (int side : {0, 1}) {
      const int64_t padding = side == 0 ? a.along[d].before : a.along[d].after;
      if (padding < window[d]) continue;
      return InvalidArgument(kSides[d][side], " padding ", padding,
                             " needs to be smaller than the window size ", window[d]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

PoolAttrs::PoolAttrs(const KernelInit& init)
    : layout_(ImageLayout::Of(init.AttrOr<std::string>("data_format", "NHWC"))),
      ksize_(init.AttrOr<std::vector<int64_t>>("ksize", {})),
      attrs_(WindowAttrs::Of(init.node(), layout_)) {}

absl::StatusOr<Pool> PoolAttrs::Of(KernelContext& context, const TensorShape& images,
                                   int first_size) const {
  SLUICE_INVALID_IF(images.rank() != rank(), "tensor_in must be ", rank(),
                    "-dimensional, got shape ", images.ToString());
  std::vector<int64_t> given_ksize;
  absl::StatusOr<WindowAttrs> given_attrs;
  if (ksize_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(given_ksize, SizesOf(context.input(first_size), "ksize"));
    SLUICE_ASSIGN_OR_RETURN(const auto strides, SizesOf(context.input(first_size + 1), "stride"));
    given_attrs = WindowAttrs::Of(context.node(), layout_, strides);
  }
  const std::vector<int64_t>& ksize = ksize_.empty() ? given_ksize : ksize_;
  const absl::StatusOr<WindowAttrs>& attrs = ksize_.empty() ? given_attrs : attrs_;
  SLUICE_RETURN_IF_ERROR(attrs.status());
  SLUICE_RETURN_IF_ERROR(CheckSizes(*attrs, ksize, images.dim(layout_.channel())));
  const absl::Span<const int64_t> window = attrs->SpaceOf(ksize);
  Pool pool;
  SLUICE_ASSIGN_OR_RETURN(pool.g, attrs->Slide(images, window));
  SLUICE_RETURN_IF_ERROR(CheckPaddings(*attrs, window));
  pool.g.window_channels = ksize[layout_.channel()];
  pool.g.out_channels = pool.g.in_channels / pool.g.window_channels;
  SLUICE_ASSIGN_OR_RETURN(pool.pooled, attrs->OutputShape(pool.g));
  return pool;
}

absl::Status CheckShape(const char* what, const Tensor& t, const TensorShape& expected) {
  if (t.shape() == expected) return absl::OkStatus();
  return InvalidArgument("Expected ", what, " shape to be ", expected.ToString(), ", but got ",
                         t.shape().ToString());
}

absl::Status CopyRange(KernelContext& context) {
  for (int i : {1, 2}) {
    SLUICE_INVALID_IF(context.input(i).num_elements() != 1, context.node().op(), " node '",
                      context.name(), "': ", i == 1 ? "min_input" : "max_input",
                      " must be a scalar, got shape ", context.input(i).shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(Tensor * end, context.AllocateOutput(i, {}));
    *end->data<float>() = *context.input(i).data<float>();
  }
  return absl::OkStatus();
}

}  // namespace sluice
