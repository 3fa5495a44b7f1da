#include "ops/conv/window.h"

#include <algorithm>

#include "graph/status.h"

namespace sluice {
namespace {

// Sizes that a hostile attribute could make overflow are refused.
constexpr int64_t kSizeMax = int64_t{1} << 40;

absl::Status Check(const Sliding& s) {
  if (s.stride <= 0) return InvalidArgument("Stride must be > 0, but got ", s.stride);
  if (s.dilation < 1) {
    return InvalidArgument("Dilation rate must be >= 1, but got ", s.dilation);
  }
  if (s.before < 0 || s.after < 0) {
    return InvalidArgument("paddings must be nonnegative, got ", s.before, " and ", s.after);
  }
  if (std::max({s.stride, s.dilation, s.before, s.after}) > kSizeMax) {
    return InvalidArgument("strides, dilations and paddings must be at most ", kSizeMax);
  }
  return absl::OkStatus();
}

// Of a tensor without elements a size may be anything.
absl::Status CheckInput(int64_t input) {
  if (input <= kSizeMax) return absl::OkStatus();
  return InvalidArgument("sizes must be at most ", kSizeMax, ", got ", input);
}

absl::StatusOr<int64_t> Extent(int64_t filter, const Sliding& s) {
  if (filter < 0 || filter > kSizeMax / s.dilation) {
    return InvalidArgument("filter with dilation ", s.dilation, " must have a size from 0 to ",
                           kSizeMax / s.dilation, ", got ", filter);
  }
  return (filter - 1) * s.dilation + 1;
}

absl::Status CheckPaddings(absl::Span<const int64_t> paddings, const ImageLayout& layout) {
  if (paddings.size() != 8) {
    return InvalidArgument("explicit_paddings attribute must contain 8 values, but got: ",
                           paddings.size());
  }
  for (int64_t p : paddings) {
    if (p < 0) return InvalidArgument("All elements of explicit_paddings must be nonnegative");
  }
  for (int d : {layout.batch, layout.channel}) {
    if (paddings[2 * d] != 0 || paddings[2 * d + 1] != 0) {
      return InvalidArgument(
          "Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
  }
  return absl::OkStatus();
}

}  // namespace

Padding PaddingOf(std::string_view attr) {
  return attr == "SAME"       ? Padding::kSame
         : attr == "EXPLICIT" ? Padding::kExplicit
                              : Padding::kValid;
}

absl::StatusOr<Window> SlideWindow(int64_t input, int64_t filter, const Sliding& s) {
  SLUICE_RETURN_IF_ERROR(Check(s));
  SLUICE_RETURN_IF_ERROR(CheckInput(input));
  SLUICE_ASSIGN_OR_RETURN(const int64_t extent, Extent(filter, s));
  Window w;
  switch (s.padding) {
    case Padding::kValid:
      w.outputs = (input - extent + s.stride) / s.stride;
      break;
    case Padding::kExplicit:
      w.before = s.before;
      w.after = s.after;
      w.outputs = (input + s.before + s.after - extent + s.stride) / s.stride;
      break;
    case Padding::kSame: {
      w.outputs = (input + s.stride - 1) / s.stride;
      const int64_t missing = std::max<int64_t>(0, (w.outputs - 1) * s.stride + extent - input);
      w.before = missing / 2;  // the odd one goes behind
      w.after = missing - w.before;
      break;
    }
  }
  if (w.outputs < 0) {
    return InvalidArgument("Computed output size would be negative: ", w.outputs,
                           " [input_size: ", input, ", effective_filter_size: ", extent,
                           ", stride: ", s.stride, "]");
  }
  return w;
}

absl::StatusOr<int64_t> WindowOutputs(int64_t input, int64_t filter, const Sliding& s) {
  SLUICE_RETURN_IF_ERROR(Check(s));
  SLUICE_RETURN_IF_ERROR(CheckInput(input));
  if (input < 0 || (filter < 0 && s.padding != Padding::kSame)) return int64_t{-1};
  if (s.padding != Padding::kSame) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t extent, Extent(filter, s));
    const int64_t padded = input + s.before + s.after;
    if (padded < extent) {
      return InvalidArgument("Negative dimension size caused by subtracting ", extent, " from ",
                             padded);
    }
  }
  SLUICE_ASSIGN_OR_RETURN(const Window w, SlideWindow(input, std::max<int64_t>(filter, 1), s));
  return w.outputs;
}

absl::StatusOr<ImageSliding> ImageSlidingOf(std::string_view op, std::string_view data_format,
                                            const std::vector<int64_t>& strides,
                                            const std::vector<int64_t>& dilations,
                                            std::string_view padding,
                                            const std::vector<int64_t>& explicit_paddings) {
  if (strides.size() != 4) {
    return InvalidArgument(
        op, " on data format ", data_format,
        " requires the stride attribute to contain 4 values, but got: ", strides.size());
  }
  if (dilations.size() != 4) {
    return InvalidArgument(
        op, " requires the dilation attribute to contain 4 values, but got: ", dilations.size());
  }
  const ImageLayout layout = ImageLayout::Of(data_format);
  const Padding kind = PaddingOf(padding);
  if (kind != Padding::kExplicit && !explicit_paddings.empty()) {
    return InvalidArgument(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  ImageSliding sliding{.height = {strides[layout.height], dilations[layout.height], kind},
                       .width = {strides[layout.width], dilations[layout.width], kind}};
  if (kind == Padding::kExplicit) {
    SLUICE_RETURN_IF_ERROR(CheckPaddings(explicit_paddings, layout));
    sliding.height.before = explicit_paddings[2 * layout.height];
    sliding.height.after = explicit_paddings[2 * layout.height + 1];
    sliding.width.before = explicit_paddings[2 * layout.width];
    sliding.width.after = explicit_paddings[2 * layout.width + 1];
  }
  SLUICE_RETURN_IF_ERROR(Check(sliding.height));
  SLUICE_RETURN_IF_ERROR(Check(sliding.width));
  return sliding;
}

}  // namespace sluice
