// Kernels that draw boxes into images.
#include <algorithm>
#include <cmath>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The default colours of successive boxes.
constexpr float kColors[][4] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

absl::Status Check(KernelContext& c) {
  const Tensor &images = c.input(0), &boxes = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(images, 4, "The rank of the images should be 4, got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(boxes, 3, "The rank of the boxes should be 3, got shape "));
  SLUICE_INVALID_IF(
      boxes.dim(2) != 4,
      "The size of the third dimension of the box must be 4. Received: ", boxes.dim(2));
  SLUICE_INVALID_IF(images.dim(0) != boxes.dim(0), "The batch sizes should be the same, got ",
                    images.dim(0), " and ", boxes.dim(0));
  const int64_t depth = images.dim(3);
  SLUICE_INVALID_IF(depth != 1 && depth != 3 && depth != 4,
                    "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got ", depth);
  if (c.num_inputs() < 3) return absl::OkStatus();
  const Tensor& colors = c.input(2);
  SLUICE_RETURN_IF_ERROR(ExpectRank(colors, 2, "colors must be a 2-D matrix, got shape "));
  SLUICE_INVALID_IF(colors.dim(1) < depth,
                    "colors must have equal or more channels than the image provided: ",
                    colors.dim(1), " for ", depth);
  return absl::OkStatus();
}

// Returns the colour of box i in `depth` channels.
std::vector<float> ColorOf(KernelContext& c, int64_t i, int64_t depth) {
  if (c.num_inputs() == 3 && c.input(2).num_elements() > 0) {
    const Tensor& colors = c.input(2);
    const float* row = colors.data<float>() + i % colors.dim(0) * colors.dim(1);
    return std::vector<float>(row, row + depth);
  }
  const float* row = kColors[i % static_cast<int64_t>(std::size(kColors))];
  std::vector<float> color(row, row + depth);
  if (depth == 1) color[0] = 1;
  return color;
}

// Draws the borders of boxes into one image.
template <typename T>
class Canvas {
 public:
  Canvas(T* pixels, int64_t height, int64_t width, int64_t depth)
      : pixels_(pixels), height_(height), width_(width), depth_(depth) {}

  void Draw(const float* box, const std::vector<float>& color) {
    const auto at = [](float part, int64_t size) {
      const float v = part * static_cast<float>(size - 1);
      // If the image has one pixel, an infinite coordinate gives inf * 0 = NaN. Treats NaN as
      // outside.
      return std::isnan(v) ? INT64_MIN : static_cast<int64_t>(std::clamp(v, -1e9f, 1e9f));
    };
    const int64_t top = at(box[0], height_), left = at(box[1], width_);
    const int64_t bottom = at(box[2], height_), right = at(box[3], width_);
    if (!(top <= bottom && left <= right)) return;
    if (top >= height_ || bottom < 0 || left >= width_ || right < 0) return;
    for (int64_t x = std::max<int64_t>(left, 0); x <= std::min(right, width_ - 1); ++x) {
      Set(top, x, color);
      Set(bottom, x, color);
    }
    for (int64_t y = std::max<int64_t>(top, 0); y <= std::min(bottom, height_ - 1); ++y) {
      Set(y, left, color);
      Set(y, right, color);
    }
  }

 private:
  void Set(int64_t y, int64_t x, const std::vector<float>& color) {
    if (y < 0 || y >= height_ || x < 0 || x >= width_) return;
    for (int64_t k = 0; k < depth_; ++k) pixels_[(y * width_ + x) * depth_ + k] = T(color[k]);
  }

  T* pixels_;
  int64_t height_, width_, depth_;
};

template <typename T>
absl::Status DrawBoxes(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(Check(c));
  const Tensor &images = c.input(0), &boxes = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, images.shape()));
  std::copy_n(images.data<T>(), images.num_elements(), out->data<T>());
  if (images.num_elements() == 0) return absl::OkStatus();
  const int64_t height = images.dim(1), width = images.dim(2), depth = images.dim(3);
  for (int64_t b = 0; b < images.dim(0); ++b) {
    Canvas<T> canvas(out->data<T>() + b * height * width * depth, height, width, depth);
    for (int64_t i = 0; i < boxes.dim(1); ++i) {
      const float* box = boxes.data<float>() + (b * boxes.dim(1) + i) * 4;
      if (std::any_of(box, box + 4, [](float v) { return std::isnan(v); })) continue;
      canvas.Draw(box, ColorOf(c, i, depth));
    }
  }
  return absl::OkStatus();
}
using HalfAndFloat = TypeList<half, float>;
FUNCTION_KERNELS(DrawBoundingBoxes, "T", DrawBoxes, HalfAndFloat);
FUNCTION_KERNELS(DrawBoundingBoxesV2, "T", DrawBoxes, HalfAndFloat);

}  // namespace
}  // namespace sluice
