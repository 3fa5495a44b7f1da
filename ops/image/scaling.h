// Maps the pixels of a resized image to positions in the original image, along one dimension.
//
// Thread safety: all methods are const and may be called from any thread.
#ifndef SLUICE_OPS_IMAGE_SCALING_H_
#define SLUICE_OPS_IMAGE_SCALING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sluice {

struct Scaling {
  int64_t in, out;  // pixels of the original and of the resized image
  float scale;
  bool half_pixel;

  Scaling(int64_t from, int64_t to, bool align_corners, bool half_pixel_centers)
      : in(from),
        out(to),
        scale(align_corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                      : static_cast<float>(from) / static_cast<float>(to)),
        half_pixel(half_pixel_centers) {}

  // The position in the original of pixel `x` of the resized image.
  float At(int64_t x) const {
    return half_pixel ? (static_cast<float>(x) + 0.5f) * scale - 0.5f
                      : static_cast<float>(x) * scale;
  }
  // The original's pixels on both sides of a position, and the position's distance from `lower`.
  struct Between {
    int64_t lower, upper;
    float lerp;
  };
  Between Neighbours(int64_t x) const {
    const float at = At(x), floor = std::floor(at);
    // If there are very many pixels, rounding of the scale can lead beyond the last pixel.
    return {std::clamp(static_cast<int64_t>(floor), int64_t{0}, in - 1),
            std::min(static_cast<int64_t>(std::ceil(at)), in - 1), at - floor};
  }
  int64_t Nearest(int64_t x, bool align_corners) const {
    const float at =
        half_pixel ? (static_cast<float>(x) + 0.5f) * scale : static_cast<float>(x) * scale;
    const float whole = align_corners ? std::roundf(at) : std::floor(at);
    return std::clamp(static_cast<int64_t>(whole), int64_t{0}, in - 1);
  }
};

}  // namespace sluice

#endif  // SLUICE_OPS_IMAGE_SCALING_H_
