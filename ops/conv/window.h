// The geometry of windows that slide over images: the number of outputs and the padding.
// Convolution, pooling, Dilation2D and ExtractImagePatches share it.
//
// An image has a batch, channels and 1 to 3 spatial dimensions, in the order of its data_format.
// WindowGeometry always has depth, height and width. Missing dimensions have size 1.
//
// Thread safety: the types have no locks. Concurrent reads are safe.
// Errors: INVALID_ARGUMENT if attributes or sizes do not fit; some functions also return
// UNIMPLEMENTED, as their comments say.
// Reference: TensorFlow's core/framework/common_shape_fns.cc and kernel_shape_util.cc.
#ifndef SLUICE_OPS_CONV_WINDOW_H_
#define SLUICE_OPS_CONV_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/shape.h"

namespace sluice {

class Node;

enum class Padding {
  kValid,     // windows lie inside the image
  kSame,      // ceil(size / stride) outputs; the padding is split between both ends
  kExplicit,  // the node gives the padding at each end
};
// `attr` is VALID, SAME or EXPLICIT.
Padding PaddingOf(std::string_view attr);

// Positions of an image's dimensions. The batch is always dimension 0.
struct ImageLayout {
  int space = 2;  // number of spatial dimensions
  bool channels_first = false;

  // `data_format` is NHWC, NCHW, NDHWC or NCDHW.
  static ImageLayout Of(std::string_view data_format);

  int rank() const { return space + 2; }
  int channel() const { return channels_first ? 1 : space + 1; }
  // The position of spatial dimension `d`. d = 0 is the outermost.
  int at(int d) const { return d + (channels_first ? 2 : 1); }
  // The positions of the last two spatial dimensions.
  int height() const { return at(space - 2); }
  int width() const { return at(space - 1); }
};

// Parameters of a window that slides along one dimension.
struct Sliding {
  int64_t stride = 1;
  int64_t dilation = 1;
  Padding padding = Padding::kValid;
  int64_t before = 0, after = 0;  // padding at both ends, for kExplicit
};

// The result of SlideWindow: the number of outputs along one dimension, and the padding at both
// ends.
struct Window {
  int64_t outputs = 0;
  int64_t before = 0;
  int64_t after = 0;
};

// Slides a window of `window` elements along `input` elements. INVALID_ARGUMENT if the stride or
// the dilation is below 1, if the window or a padding is negative, if the number of outputs would
// be negative, or if a number is too large.
absl::StatusOr<Window> SlideWindow(int64_t input, int64_t window, const Sliding& sliding);
// The number of outputs, or -1 if it depends on an `input` or `window` of -1 (unknown).
absl::StatusOr<int64_t> WindowOutputs(int64_t input, int64_t window, const Sliding& sliding);

// One number per spatial dimension.
struct Space {
  int64_t depth = 1, height = 1, width = 1;

  int64_t operator[](int d) const { return d == 0 ? depth : d == 1 ? height : width; }
  int64_t& operator[](int d) { return d == 0 ? depth : d == 1 ? height : width; }
  int64_t count() const { return depth * height * width; }
  bool operator==(const Space&) const = default;
};

// The sizes of a convolution or pool in one call of its kernel. Kernels see images as [batch,
// depth, height, width, channels].
struct WindowGeometry {
  int64_t batch = 0, in_channels = 0, out_channels = 0;
  // Number of input channels that one output channel reads. Less than in_channels if there are
  // groups.
  int64_t window_channels = 0;
  Space in, out, window, stride, dilation;
  Space pad = {0, 0, 0};  // before the first element

  bool has_groups() const { return window_channels != in_channels; }
  // True for a 2-D image without padding along the depth.
  bool is_planar() const {
    return in.depth == 1 && out.depth == 1 && window.depth == 1 && pad.depth == 0;
  }
  int64_t groups() const { return in_channels / window_channels; }
  int64_t positions() const { return batch * out.count(); }
  int64_t patch() const { return window.count() * window_channels; }
  int64_t in_image() const { return in.count() * in_channels; }
  int64_t out_image() const { return out.count() * out_channels; }
  // The position in the input, along dimension `d`, at which the window of position `output` of the
  // output begins. It is negative in the padding.
  int64_t First(int d, int64_t output) const { return output * stride[d] - pad[d]; }

  // The positions [first, last) of the image, along dimension `d`, that an undilated window covers.
  struct Range {
    int64_t first, last;
    int64_t size() const { return last - first; }
  };
  Range Inside(int d, int64_t output) const {
    const int64_t first = First(d, output);
    return {std::max<int64_t>(first, 0), std::min(first + window[d], in[d])};
  }
};

// The attributes of a node with sliding windows: strides, dilations (also called rates), padding
// and explicit_paddings. INVALID_ARGUMENT if a node has no strides. Missing dilations are 1, and a
// missing padding is VALID.
struct WindowAttrs {
  std::string op;
  ImageLayout layout;
  std::vector<int64_t> strides, dilations;  // one for each dimension of the layout
  std::array<Sliding, 3> along;             // by spatial dimension; has layout.space valid elements

  static absl::StatusOr<WindowAttrs> Of(const Node& node, const ImageLayout& layout,
                                        const std::vector<int64_t>& strides);
  static absl::StatusOr<WindowAttrs> Of(const Node& node, const ImageLayout& layout);
  // The layout is that of data_format, or `format` if the node has no such attribute.
  static absl::StatusOr<WindowAttrs> Of(const Node& node, std::string_view format = "NHWC");

  // Fails unless the strides and dilations of batch and channels are 1: with UNIMPLEMENTED for
  // Conv2D, with INVALID_ARGUMENT for other ops.
  absl::Status CheckOnlySpatial() const;
  // INVALID_ARGUMENT unless `sizes`, the length of attribute `name`, is the number of dimensions.
  absl::Status CheckLength(std::string_view name, size_t sizes) const;
  // The spatial elements of `sizes`, which has one element per dimension.
  absl::Span<const int64_t> SpaceOf(absl::Span<const int64_t> sizes) const {
    return sizes.subspan(static_cast<size_t>(layout.at(0)), static_cast<size_t>(layout.space));
  }

  // The shape of the output for windows with the spatial sizes `window` (-1: unknown). The output
  // has `channels` channels.
  absl::StatusOr<PartialShape> OutputShape(const PartialShape& input,
                                           absl::Span<const int64_t> window,
                                           int64_t channels) const;
  // The geometry of windows with the spatial sizes `window` over images of shape `input`, which has
  // the rank of the layout. The caller must set out_channels and window_channels.
  absl::StatusOr<WindowGeometry> Slide(const TensorShape& input,
                                       absl::Span<const int64_t> window) const;
  // The shape of the output of `g` in this layout. INVALID_ARGUMENT if the number of elements
  // overflows.
  absl::StatusOr<TensorShape> OutputShape(const WindowGeometry& g) const;
};

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_WINDOW_H_
