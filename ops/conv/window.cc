#include "ops/conv/window.h"

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Sizes above this limit are rejected, so that no sum or product of sizes overflows.
constexpr int64_t kSizeMax = int64_t{1} << 40;

absl::Status Check(const Sliding& s) {
  SLUICE_INVALID_IF(s.stride <= 0, "Stride must be > 0, but got ", s.stride);
  SLUICE_INVALID_IF(s.dilation < 1, "Dilation rate must be >= 1, but got ", s.dilation);
  SLUICE_INVALID_IF(s.before < 0 || s.after < 0, "paddings must be nonnegative, got ", s.before,
                    " and ", s.after);
  SLUICE_INVALID_IF(std::max({s.stride, s.dilation, s.before, s.after}) > kSizeMax,
                    "strides, dilations and paddings must be at most ", kSizeMax);
  return absl::OkStatus();
}

// Checks a size of an input. It must be checked, because a tensor without elements may have a
// dimension of any size.
absl::Status CheckInput(int64_t input) {
  if (input <= kSizeMax) return absl::OkStatus();
  return InvalidArgument("sizes must be at most ", kSizeMax, ", got ", input);
}

// Returns the number of elements that a dilated window spans.
absl::StatusOr<int64_t> Extent(int64_t window, const Sliding& s) {
  SLUICE_INVALID_IF(window < 0 || window > kSizeMax / s.dilation, "filter with dilation ",
                    s.dilation, " must have a size from 0 to ", kSizeMax / s.dilation, ", got ",
                    window);
  return (window - 1) * s.dilation + 1;
}

absl::Status CheckPaddings(absl::Span<const int64_t> paddings, const ImageLayout& layout) {
  const auto expected = static_cast<size_t>(2 * layout.rank());
  SLUICE_INVALID_IF(paddings.size() != expected, "explicit_paddings attribute must contain ",
                    expected, " values, but got: ", paddings.size());
  for (int64_t p : paddings) {
    SLUICE_INVALID_IF(p < 0, "All elements of explicit_paddings must be nonnegative");
  }
  for (int d : {0, layout.channel()}) {
    SLUICE_INVALID_IF(paddings[2 * d] != 0 || paddings[2 * d + 1] != 0,
                      "Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  return absl::OkStatus();
}

const std::vector<int64_t>& IntsOf(const Node& node, std::string_view attr) {
  static const auto& none = *new std::vector<int64_t>;
  const auto* ints = node.FindAttr<std::vector<int64_t>>(attr);
  return ints == nullptr ? none : *ints;
}

}  // namespace

Padding PaddingOf(std::string_view attr) {
  return attr == "SAME"       ? Padding::kSame
         : attr == "EXPLICIT" ? Padding::kExplicit
                              : Padding::kValid;
}

ImageLayout ImageLayout::Of(std::string_view data_format) {
  return {.space = data_format == "NDHWC" || data_format == "NCDHW" ? 3 : 2,
          .channels_first = data_format == "NCHW" || data_format == "NCDHW"};
}

absl::StatusOr<Window> SlideWindow(int64_t input, int64_t window, const Sliding& s) {
  SLUICE_RETURN_IF_ERROR(Check(s));
  SLUICE_RETURN_IF_ERROR(CheckInput(input));
  SLUICE_ASSIGN_OR_RETURN(const int64_t extent, Extent(window, s));
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
      w.before = missing / 2;  // the odd element goes to the end
      w.after = missing - w.before;
      break;
    }
  }
  SLUICE_INVALID_IF(w.outputs < 0, "Computed output size would be negative: ", w.outputs,
                    " [input_size: ", input, ", effective_filter_size: ", extent,
                    ", stride: ", s.stride, "]");
  return w;
}

absl::StatusOr<int64_t> WindowOutputs(int64_t input, int64_t window, const Sliding& s) {
  SLUICE_RETURN_IF_ERROR(Check(s));
  SLUICE_RETURN_IF_ERROR(CheckInput(input));
  if (input < 0 || (window < 0 && s.padding != Padding::kSame)) return int64_t{-1};
  if (s.padding != Padding::kSame) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t extent, Extent(window, s));
    const int64_t padded = input + s.before + s.after;
    SLUICE_INVALID_IF(padded < extent, "Negative dimension size caused by subtracting ", extent,
                      " from ", padded);
  }
  SLUICE_ASSIGN_OR_RETURN(const Window w, SlideWindow(input, std::max<int64_t>(window, 1), s));
  return w.outputs;
}

absl::StatusOr<WindowAttrs> WindowAttrs::Of(const Node& node, const ImageLayout& layout,
                                            const std::vector<int64_t>& strides) {
  WindowAttrs a{
      .op = node.op(), .layout = layout, .strides = strides, .dilations = {}, .along = {}};
  a.dilations = IntsOf(node, node.FindAttr<std::vector<int64_t>>("rates") ? "rates" : "dilations");
  if (a.dilations.empty()) a.dilations.assign(static_cast<size_t>(layout.rank()), 1);
  SLUICE_RETURN_IF_ERROR(a.CheckLength("stride", a.strides.size()));
  SLUICE_RETURN_IF_ERROR(a.CheckLength("dilation", a.dilations.size()));
  const Padding padding = PaddingOf(node.AttrOr<std::string>("padding", ""));
  const std::vector<int64_t>& paddings = IntsOf(node, "explicit_paddings");
  if (padding == Padding::kExplicit) {
    SLUICE_RETURN_IF_ERROR(CheckPaddings(paddings, layout));
  } else if (!paddings.empty()) {
    return InvalidArgument(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  for (int d = 0; d < layout.space; ++d) {
    const auto at = static_cast<size_t>(layout.at(d));
    a.along[d] = {.stride = a.strides[at], .dilation = a.dilations[at], .padding = padding};
    if (padding == Padding::kExplicit) {
      a.along[d].before = paddings[2 * at];
      a.along[d].after = paddings[2 * at + 1];
    }
    SLUICE_RETURN_IF_ERROR(Check(a.along[d]));
  }
  return a;
}

absl::StatusOr<WindowAttrs> WindowAttrs::Of(const Node& node, const ImageLayout& layout) {
  return Of(node, layout, IntsOf(node, "strides"));
}

absl::StatusOr<WindowAttrs> WindowAttrs::Of(const Node& node, std::string_view format) {
  const auto* data_format = node.FindAttr<std::string>("data_format");
  return Of(node, ImageLayout::Of(data_format == nullptr ? format : *data_format));
}

absl::Status WindowAttrs::CheckLength(std::string_view name, size_t sizes) const {
  if (sizes == static_cast<size_t>(layout.rank())) return absl::OkStatus();
  return InvalidArgument(op, " requires the ", name, " attribute to contain ", layout.rank(),
                         " values, but got: ", sizes);
}

absl::Status WindowAttrs::CheckOnlySpatial() const {
  const auto channel = static_cast<size_t>(layout.channel());
  const bool has_strides = strides[0] != 1 || strides[channel] != 1;
  if (!has_strides && dilations[0] == 1 && dilations[channel] == 1) return absl::OkStatus();
  const auto unsupported = op == "Conv2D" ? absl::UnimplementedError : absl::InvalidArgumentError;
  return unsupported(StrCat("Current implementation does not yet support ",
                            has_strides ? "strides" : "dilations",
                            " in the batch and depth dimensions."));
}

absl::StatusOr<PartialShape> WindowAttrs::OutputShape(const PartialShape& input,
                                                      absl::Span<const int64_t> window,
                                                      int64_t channels) const {
  PartialShape out = PartialShape::UnknownOfRank(layout.rank());
  out.set_dim(0, input.dim(0));
  out.set_dim(layout.channel(), channels);
  for (int d = 0; d < layout.space; ++d) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t size,
                            WindowOutputs(input.dim(layout.at(d)), window[d], along[d]));
    out.set_dim(layout.at(d), size);
  }
  return out;
}

absl::StatusOr<WindowGeometry> WindowAttrs::Slide(const TensorShape& input,
                                                  absl::Span<const int64_t> window) const {
  WindowGeometry g;
  g.batch = input.dim(0);
  g.in_channels = input.dim(layout.channel());
  for (int d = 0; d < layout.space; ++d) {
    const int to = d + 3 - layout.space;
    g.in[to] = input.dim(layout.at(d));
    g.window[to] = window[d];
    SLUICE_ASSIGN_OR_RETURN(const Window w, SlideWindow(g.in[to], window[d], along[d]));
    g.out[to] = w.outputs;
    g.pad[to] = w.before;
    g.stride[to] = along[d].stride;
    g.dilation[to] = along[d].dilation;
  }
  return g;
}

absl::StatusOr<TensorShape> WindowAttrs::OutputShape(const WindowGeometry& g) const {
  absl::InlinedVector<int64_t, 5> dims(static_cast<size_t>(layout.rank()), g.batch);
  dims[layout.channel()] = g.out_channels;
  for (int d = 0; d < layout.space; ++d) dims[layout.at(d)] = g.out[d + 3 - layout.space];
  return TensorShape::Make(dims);
}

}  // namespace sluice
