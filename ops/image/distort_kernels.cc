// Kernels that sample random crops of images.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/cast_loops.h"
#include "ops/random/philox.h"
#include "ops/random/seeds.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

// Draws the same random numbers as TensorFlow, so that equal seeds give equal boxes.
class Dice {
 public:
  explicit Dice(Philox generator) : generator_(generator), next_(&generator_) {}

  float Unit() {  // in [0, 1)
    return std::bit_cast<float>((next_() & 0x7fffffu) | 0x3f800000u) - 1.0f;
  }
  // Returns a number in [0, n). Rejects numbers that would make small results more likely.
  uint32_t Below(uint32_t n) {
    if (n == 0) return 0;
    if ((n & (n - 1)) == 0) return next_() & (n - 1);
    const uint32_t surplus = std::numeric_limits<uint32_t>::max() % n + 1;
    uint32_t number = next_();
    while (number < surplus) number = next_();
    return number % n;
  }

 private:
  Philox generator_;
  SingleNumbers next_;
};

struct PixelBox {
  int32_t left = 0, top = 0, right = 0, bottom = 0;

  float Area() const { return static_cast<float>(int64_t{right - left} * int64_t{bottom - top}); }
  PixelBox Common(const PixelBox& o) const {
    const PixelBox both{std::max(left, o.left), std::max(top, o.top), std::min(right, o.right),
                        std::min(bottom, o.bottom)};
    return both.left > both.right || both.top > both.bottom ? PixelBox() : both;
  }
};

struct Range {
  float low, high;
};

// Converts a number of pixels to int32, with clamping. NaN becomes 0.
int32_t Whole(double v) {
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  return std::isnan(v) ? 0 : static_cast<int32_t>(std::clamp(v, 0.0, kMost));
}
int32_t Rounded(float v) { return Whole(std::rint(v)); }

// Samples a box of this aspect ratio. Returns false if the box that it tries does not fit `areas`
// or the image.
bool RandomBox(int32_t image_width, int32_t image_height, Range areas, float aspect, Dice* dice,
               PixelBox* box) {
  if (image_width <= 0 || image_height <= 0 || areas.low > areas.high) return false;
  const float pixels = static_cast<float>(image_width) * static_cast<float>(image_height);
  const auto least = areas.low * pixels, most = areas.high * pixels;
  const auto width_of = [aspect](int32_t h) { return Rounded(static_cast<float>(h) * aspect); };
  int32_t height = Rounded(std::sqrt(least / aspect));
  int32_t highest = Rounded(std::sqrt(most / aspect));
  if (width_of(highest) > image_width) {
    highest = Whole((image_width + 0.5 - 1e-7f) / aspect);
    if (width_of(highest) > image_width) --highest;
  }
  highest = std::min(highest, image_height);
  height = std::min(height, highest);
  if (height < highest) {
    height += static_cast<int32_t>(dice->Below(static_cast<uint32_t>(highest - height + 1)));
  }
  int32_t width = width_of(height);
  const auto area = [&] { return static_cast<float>(int64_t{width} * height); };
  if (area() < least) width = width_of(++height);  // corrects the effect of rounding
  if (area() > most) width = width_of(--height);
  if (area() < least || area() > most || width > image_width || height > image_height ||
      width <= 0 || height <= 0) {
    return false;
  }
  box->top = box->left = 0;
  if (height < image_height) {
    box->top = static_cast<int32_t>(dice->Below(static_cast<uint32_t>(image_height - height)));
  }
  if (width < image_width) {
    box->left = static_cast<int32_t>(dice->Below(static_cast<uint32_t>(image_width - width)));
  }
  box->right = box->left + width;
  box->bottom = box->top + height;
  return true;
}

// Returns whether the box contains at least the fraction `least` of an object.
bool Covers(const PixelBox& box, const std::vector<PixelBox>& objects, float least) {
  if (box.Area() < 1) return false;
  return std::any_of(objects.begin(), objects.end(), [&](const PixelBox& object) {
    return object.Area() >= 1 && box.Common(object).Area() / object.Area() >= least;
  });
}

class DistortedBoxKernel : public Kernel {
 public:
  explicit DistortedBoxKernel(KernelInit& init)
      : covered_(init.AttrOr<float>("min_object_covered", 0)),
        aspects_(init.attr<std::vector<float>>("aspect_ratio_range")),
        areas_(init.attr<std::vector<float>>("area_range")),
        attempts_(init.attr<int64_t>("max_attempts")),
        may_use_image_(init.attr<bool>("use_image_if_no_bounding_boxes")) {
    if (init.node().op() != "StatelessSampleDistortedBoundingBox") {
      generator_ = std::make_unique<ReservedGenerator>(init.attr<int64_t>("seed"),
                                                       init.attr<int64_t>("seed2"));
    }
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(CheckAttrs());
    SLUICE_ASSIGN_OR_RETURN(const PixelBox image, ImageOf(c));
    SLUICE_ASSIGN_OR_RETURN(const float covered, CoveredOf(c));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<PixelBox> objects, ObjectsOf(c.input(1), image));
    SLUICE_ASSIGN_OR_RETURN(const Philox generator, GeneratorOf(c));
    Dice dice(generator);
    PixelBox box;
    bool is_found = false;
    // No box fits into an image without pixels.
    const bool has_pixels = image.right > 0 && image.bottom > 0;
    for (int64_t i = 0; has_pixels && i < attempts_ && !is_found; ++i) {
      if (i % 4096 == 4095) SLUICE_RETURN_IF_ERROR(CallerOf(c).CheckNotCancelled());
      const float aspect = dice.Unit() * (aspects_[1] - aspects_[0]) + aspects_[0];
      is_found =
          RandomBox(image.right, image.bottom, {areas_[0], areas_[1]}, aspect, &dice, &box) &&
          Covers(box, objects, covered);
    }
    return SetCrop(c, image, is_found ? box : image);
  }

 private:
  absl::Status CheckAttrs() const {
    SLUICE_INVALID_IF(!(covered_ >= 0), "Min object covered must be non-negative, got ", covered_);
    SLUICE_INVALID_IF(aspects_.size() != 2, "Aspect ratio range field must specify 2 dimensions");
    SLUICE_INVALID_IF(!(aspects_[0] > 0 && aspects_[1] > 0),
                      "Aspect ratio range must be non-negative: [", aspects_[0], ", ", aspects_[1],
                      "]");
    SLUICE_INVALID_IF(areas_.size() != 2, "Area range field must specify 2 dimensions");
    SLUICE_INVALID_IF(!(areas_[0] > 0 && areas_[1] > 0), "Area range must be non-negative: [",
                      areas_[0], ", ", areas_[1], "]");
    SLUICE_INVALID_IF(!(areas_[0] <= 1 && areas_[1] <= 1),
                      "Area range must be less then or equal to 1.0: [", areas_[0], ", ", areas_[1],
                      "]");
    SLUICE_INVALID_IF(attempts_ <= 0, "Max attempts must be non-negative: ", attempts_);
    SLUICE_INVALID_IF(attempts_ > std::numeric_limits<int32_t>::max(),
                      "max_attempts must be an int32, got ", attempts_);
    return absl::OkStatus();
  }

  static absl::StatusOr<PixelBox> ImageOf(KernelContext& c) {
    const Tensor& size = c.input(0);
    SLUICE_INVALID_IF(size.rank() != 1 || size.dim(0) != 3,
                      "image_size must contain 3 elements, got shape ", size.shape().ToString());
    int64_t sizes[3];
    FindCastLoop(size.dtype(), DT_INT64, false)(size.raw(), sizes, 3);
    for (int i = 0; i < 2; ++i) {
      SLUICE_INVALID_IF(sizes[i] < 0 || sizes[i] >= std::numeric_limits<int32_t>::max(),
                        "image height and width must be in [0, int32 max), got ", sizes[i]);
    }
    return PixelBox{0, 0, static_cast<int32_t>(sizes[1]), static_cast<int32_t>(sizes[0])};
  }

  absl::StatusOr<float> CoveredOf(KernelContext& c) const {
    if (c.num_inputs() < 3) return covered_;
    const Tensor& covered = c.input(2);
    SLUICE_RETURN_IF_ERROR(ExpectRank(covered, 0, "min_object_covered must be 0-D, got shape "));
    const float value = *covered.data<float>();
    SLUICE_INVALID_IF(!(value >= 0), "Min object covered must be non-negative, got ", value);
    return value;
  }

  absl::StatusOr<std::vector<PixelBox>> ObjectsOf(const Tensor& boxes,
                                                  const PixelBox& image) const {
    SLUICE_INVALID_IF(boxes.rank() != 3 || boxes.dim(2) != 4,
                      "input boxes must be 3-dimensional [batch, num_boxes, coords], got shape ",
                      boxes.shape().ToString());
    std::vector<PixelBox> objects;
    for (int64_t i = 0; i < boxes.num_elements(); i += 4) {
      const float* corners = boxes.data<float>() + i;
      for (int k = 0; k < 4; ++k) {
        SLUICE_INVALID_IF(!(corners[k] >= 0 && corners[k] <= 1),
                          "All bounding box coordinates must be in [0.0, 1.0]: ", corners[k]);
      }
      const auto width = static_cast<float>(image.right), height = static_cast<float>(image.bottom);
      objects.push_back({Whole(corners[1] * width), Whole(corners[0] * height),
                         Whole(corners[3] * width), Whole(corners[2] * height)});
    }
    if (!objects.empty()) return objects;
    SLUICE_INVALID_IF(
        !may_use_image_,
        "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if "
        "you wish to not provide any bounding boxes.");
    return std::vector<PixelBox>{image};
  }

  absl::StatusOr<Philox> GeneratorOf(KernelContext& c) {
    if (generator_ == nullptr) return random::FromSeed(c.input(3));
    // Like TensorFlow, reserves one call of the generator, which gives four numbers, for each
    // attempt.
    return generator_->Reserve(static_cast<uint64_t>(attempts_));
  }

  static absl::Status SetCrop(KernelContext& c, const PixelBox& image, const PixelBox& box) {
    const int64_t begin[] = {box.top, box.left, 0};
    const int64_t size[] = {box.bottom - box.top, box.right - box.left, -1};
    for (int i = 0; i < 2; ++i) {
      SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(i, TensorShape({3})));
      FindCastLoop(DT_INT64, out->dtype(), false)(i == 0 ? begin : size, out->raw(), 3);
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * boxes, c.AllocateOutput(2, TensorShape({1, 1, 4})));
    const auto width = static_cast<float>(image.right), height = static_cast<float>(image.bottom);
    float* to = boxes->data<float>();
    to[0] = static_cast<float>(box.top) / height;
    to[1] = static_cast<float>(box.left) / width;
    to[2] = static_cast<float>(box.bottom) / height;
    to[3] = static_cast<float>(box.right) / width;
    return absl::OkStatus();
  }

  const float covered_;
  const std::vector<float> aspects_, areas_;
  const int64_t attempts_;
  const bool may_use_image_;
  std::unique_ptr<ReservedGenerator> generator_;
};
KERNEL(SampleDistortedBoundingBox, DistortedBoxKernel, {"T", IntTypes()});
KERNEL(SampleDistortedBoundingBoxV2, DistortedBoxKernel, {"T", IntTypes()});
KERNEL(StatelessSampleDistortedBoundingBox, DistortedBoxKernel, {"T", IntTypes()});

}  // namespace
}  // namespace sluice
