// A window that slides over the space of an image: where its outputs lie, and how much padding that
// takes. One place for the arithmetic of convolutions and pools, before a step (sizes may be
// unknown) and in it.
#ifndef SLUICE_OPS_CONV_WINDOW_H_
#define SLUICE_OPS_CONV_WINDOW_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sluice {

enum class Padding {
  kValid,     // windows lie inside the image
  kSame,      // ceil(size / stride) outputs; what is missing is padded, half in front, half behind
  kExplicit,  // given sizes
};
// VALID, SAME or EXPLICIT.
Padding PaddingOf(std::string_view attr);

// Positions of the dimensions of a batch of images.
struct ImageLayout {
  int batch, height, width, channel;
  // NHWC, or NCHW.
  static ImageLayout Of(std::string_view data_format) {
    return data_format == "NCHW" ? ImageLayout{0, 2, 3, 1} : ImageLayout{0, 1, 2, 3};
  }
};

// How a window moves along one dimension.
struct Sliding {
  int64_t stride = 1;
  int64_t dilation = 1;
  Padding padding = Padding::kValid;
  int64_t before = 0, after = 0;  // of kExplicit
};

// What follows for one dimension: the number of outputs, and the padding at both ends.
struct Window {
  int64_t outputs = 0;
  int64_t before = 0;
  int64_t after = 0;
};

// INVALID_ARGUMENT on strides and dilations below 1, and where a window does not fit.
absl::StatusOr<Window> SlideWindow(int64_t input, int64_t filter, const Sliding& sliding);
// The number of outputs where sizes may be -1 for unknown.
absl::StatusOr<int64_t> WindowOutputs(int64_t input, int64_t filter, const Sliding& sliding);

// Slidings along height and width from attributes in the order of the layout: four strides, four
// dilations, and eight explicit paddings (or none). `op` begins the messages.
struct ImageSliding {
  Sliding height, width;
};
absl::StatusOr<ImageSliding> ImageSlidingOf(std::string_view op, std::string_view data_format,
                                            const std::vector<int64_t>& strides,
                                            const std::vector<int64_t>& dilations,
                                            std::string_view padding,
                                            const std::vector<int64_t>& explicit_paddings);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_WINDOW_H_
