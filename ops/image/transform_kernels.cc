// Kernels that project images and extract windows.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Maps a position outside [0, size) to one inside, as SciPy's ndimage does. For fill mode CONSTANT,
// the position does not change.
using MapPosition = float (*)(float at, int64_t size);

float Inside(float at, int64_t size) { return std::clamp(at, 0.0f, static_cast<float>(size - 1)); }
float Reflect(float at, int64_t size) {  // abcd -> dcba|abcd|dcba
  if (size <= 1) return at < 0 || at > 0 ? 0.0f : Inside(at, size);
  const auto n = static_cast<float>(size), period = 2 * n;
  if (at < 0) {
    if (at < period) at += period * std::trunc(-at / period);
    at = at < -n ? at + period : -at - 1;
  } else if (at > n - 1) {
    at -= period * std::trunc(at / period);
    if (at >= n) at = period - at - 1;
  }
  return Inside(at, size);
}
float Wrap(float at, int64_t size) {  // abcd -> abcd|abcd|abcd
  if (size <= 1) return 0;
  const auto n = static_cast<float>(size), last = n - 1;
  if (at < 0) {
    at += n * (std::trunc(-at / last) + 1);
  } else if (at > last) {
    at -= n * std::trunc(at / last);
  }
  return Inside(at, size);
}
float Keep(float at, int64_t) { return at; }

absl::StatusOr<MapPosition> MapOf(const std::string& mode) {
  if (mode == "REFLECT") return MapPosition{Reflect};
  if (mode == "WRAP") return MapPosition{Wrap};
  if (mode == "CONSTANT") return MapPosition{Keep};
  if (mode == "NEAREST") return MapPosition{Inside};
  return InvalidArgument("Invalid mode \"", mode,
                         "\": expected REFLECT, WRAP, CONSTANT or NEAREST");
}

template <typename T>
class ProjectionKernel : public Kernel {
 public:
  explicit ProjectionKernel(KernelInit& init)
      : interpolation_(init.attr<std::string>("interpolation")),
        map_(MapOf(init.attr<std::string>("fill_mode"))) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(map_.status());
    SLUICE_INVALID_IF(interpolation_ != "NEAREST" && interpolation_ != "BILINEAR",
                      "Invalid interpolation \"", interpolation_,
                      "\": expected NEAREST or BILINEAR");
    const Tensor &images = c.input(0), &transforms = c.input(1), &size = c.input(2);
    SLUICE_RETURN_IF_ERROR(Check(images, transforms, size));
    const int32_t* sizes = size.data<int32_t>();
    SLUICE_INVALID_IF(sizes[0] <= 0 || sizes[1] <= 0, "output dimensions must be positive, got ",
                      sizes[0], " and ", sizes[1]);
    T fill = T(0.0f);
    if (c.num_inputs() == 4) {
      SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(3), 0, "fill_value must be a scalar, got shape "));
      fill = T(*c.input(3).data<float>());
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({images.dim(0), sizes[0], sizes[1], images.dim(3)}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();  // the other sizes have no bound
    const Source from{images.data<T>(), images.dim(1), images.dim(2), images.dim(3), fill};
    const int64_t rows = shape.dim(1), columns = shape.dim(2), channels = shape.dim(3);
    c.ParallelFor(shape.dim(0) * rows, 20.0 * static_cast<double>(columns * channels),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t b = i / rows;
                      const float* m =
                          transforms.data<float>() + (transforms.dim(0) == 1 ? 0 : 8 * b);
                      for (int64_t x = 0; x < columns; ++x) {
                        Pixel(from, b, m, static_cast<float>(x), static_cast<float>(i % rows),
                              out->data<T>() + (i * columns + x) * channels);
                      }
                    }
                  });
    return absl::OkStatus();
  }

 private:
  struct Source {
    const T* pixels;
    int64_t height, width, channels;
    T fill;

    // Returns the channels of a pixel, or null if it is outside the image.
    const T* At(int64_t b, float y, float x) const {
      if (!(y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width))) {
        return nullptr;
      }
      return pixels +
             ((b * height + static_cast<int64_t>(y)) * width + static_cast<int64_t>(x)) * channels;
    }
  };

  static absl::Status Check(const Tensor& images, const Tensor& transforms, const Tensor& size) {
    SLUICE_RETURN_IF_ERROR(ExpectRank(images, 4, "Input images must have rank 4, got shape "));
    SLUICE_INVALID_IF(transforms.rank() != 2 || transforms.dim(1) != 8 ||
                          (transforms.dim(0) != 1 && transforms.dim(0) != images.dim(0)),
                      "Input transform should be num_images x 8 or 1 x 8, got shape ",
                      transforms.shape().ToString());
    SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 2,
                      "output shape must have two elements, got shape ", size.shape().ToString());
    return absl::OkStatus();
  }

  void Pixel(const Source& from, int64_t b, const float* m, float x, float y, T* to) const {
    const float depth = m[6] * x + m[7] * y + 1;
    const float in_x = (*map_)((m[0] * x + m[1] * y + m[2]) / depth, from.width);
    const float in_y = (*map_)((m[3] * x + m[4] * y + m[5]) / depth, from.height);
    if (depth == 0) {  // at infinity
      std::fill_n(to, from.channels, from.fill);
    } else if (interpolation_ == "NEAREST") {
      const T* pixel = from.At(b, std::round(in_y), std::round(in_x));
      for (int64_t k = 0; k < from.channels; ++k) to[k] = pixel ? pixel[k] : from.fill;
    } else {
      Blend(from, b, in_y, in_x, to);
    }
  }

  static void Blend(const Source& from, int64_t b, float y, float x, T* to) {
    const float top = std::floor(y), left = std::floor(x);
    const T* corners[] = {from.At(b, top, left), from.At(b, top, left + 1),
                          from.At(b, top + 1, left), from.At(b, top + 1, left + 1)};
    const float right_part = x - left, left_part = left + 1 - x;
    for (int64_t k = 0; k < from.channels; ++k) {
      const auto value = [&](int i) {
        return static_cast<float>(corners[i] ? corners[i][k] : from.fill);
      };
      const float above = left_part * value(0) + right_part * value(1);
      const float below = left_part * value(2) + right_part * value(3);
      to[k] = T((top + 1 - y) * above + (y - top) * below);
    }
  }

  const std::string interpolation_;
  const absl::StatusOr<MapPosition> map_;
};
using ProjectionTypes = TypeList<uint8_t, int32_t, int64_t, half, bfloat16, float, double>;
KERNELS(ImageProjectiveTransformV2, "dtype", ProjectionKernel, ProjectionTypes);
KERNELS(ImageProjectiveTransformV3, "dtype", ProjectionKernel, ProjectionTypes);

enum class Noise { kUniform, kGaussian, kZero };

absl::StatusOr<Noise> NoiseOf(const std::string& noise, bool is_uniform) {
  SLUICE_INVALID_IF(is_uniform && !noise.empty() && noise != "uniform",
                    "The uniform_noise should not be True when noise is not uniform, got ", noise);
  if (noise.empty()) return is_uniform ? Noise::kUniform : Noise::kGaussian;
  if (noise == "uniform") return Noise::kUniform;
  if (noise == "gaussian") return Noise::kGaussian;
  if (noise == "zero") return Noise::kZero;
  return InvalidArgument("The noise could only be uniform, gaussian, or zero, got", noise);
}

// Fills a glimpse with noise. Uniform noise is between the extremes of the image. Gaussian noise
// has the mean and deviation of each channel, and is clamped to the channel's extremes.
void FillWithNoise(Noise noise, const float* image, int64_t pixels, int64_t channels, float* to,
                   int64_t glimpse_pixels) {
  std::fill_n(to, glimpse_pixels * channels, 0.0f);
  if (noise == Noise::kZero || pixels * channels == 0) return;
  std::mt19937_64 random(std::random_device{}());
  if (noise == Noise::kUniform) {
    const auto [low, high] = std::minmax_element(image, image + pixels * channels);
    std::uniform_real_distribution<float> unit(0, 1);
    for (int64_t i = 0; i < glimpse_pixels * channels; ++i) {
      to[i] = *low + unit(random) * (*high - *low);
    }
    return;
  }
  for (int64_t k = 0; k < channels; ++k) {
    double sum = 0, squares = 0;
    float low = image[k], high = image[k];
    for (int64_t p = 0; p < pixels; ++p) {
      const float v = image[p * channels + k];
      sum += v;
      squares += static_cast<double>(v) * v;
      low = std::min(low, v);
      high = std::max(high, v);
    }
    const double n = static_cast<double>(pixels), mean = sum / n;
    std::normal_distribution<float> normal(
        static_cast<float>(mean),
        static_cast<float>(std::sqrt(std::max(squares / n - mean * mean, 0.0))));
    for (int64_t p = 0; p < glimpse_pixels; ++p) {
      to[p * channels + k] = std::clamp(normal(random), low, high);
    }
  }
}

class GlimpseKernel : public Kernel {
 public:
  explicit GlimpseKernel(KernelInit& init)
      : is_first_version_(init.node().op() == "ExtractGlimpse"),
        is_centered_(init.attr<bool>("centered")),
        is_normalized_(init.attr<bool>("normalized")),
        noise_(NoiseOf(init.attr<std::string>("noise"), init.attr<bool>("uniform_noise"))) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(noise_.status());
    const Tensor &images = c.input(0), &size = c.input(1), &offsets = c.input(2);
    SLUICE_RETURN_IF_ERROR(ExpectRank(
        images, 4, "input must be 4-dimensional (batch_size, height, width, depth), got shape "));
    SLUICE_INVALID_IF(size.rank() != 1 || size.dim(0) != 2,
                      "input must be a vector of size 2 (height, width), got shape ",
                      size.shape().ToString());
    SLUICE_RETURN_IF_ERROR(ExpectRank(offsets, 2, "offsets must be [batch, 2], got shape "));
    SLUICE_INVALID_IF(offsets.dim(0) != images.dim(0), "first dimension should be batch, ",
                      images.dim(0), ", got offsets of shape ", offsets.shape().ToString());
    SLUICE_INVALID_IF(offsets.dim(1) != 2,
                      "second dimension should be of size 2 (y, x), got offsets of shape ",
                      offsets.shape().ToString());
    const int32_t* sizes = size.data<int32_t>();
    SLUICE_INVALID_IF(sizes[0] < 0 || sizes[1] < 0, "size must not be negative, got ", sizes[0],
                      " and ", sizes[1]);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make({images.dim(0), sizes[0], sizes[1], images.dim(3)}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    for (int64_t b = 0; b < images.dim(0); ++b) {
      const float* offset = offsets.data<float>() + 2 * b;
      Glimpse(images, b, First(offset[0], images.dim(1), shape.dim(1)),
              First(offset[1], images.dim(2), shape.dim(2)), out);
    }
    return absl::OkStatus();
  }

 private:
  // Returns the first position of the glimpse in one dimension of the image.
  int64_t First(float offset, int64_t image, int64_t glimpse) const {
    const auto size = static_cast<float>(image), window = static_cast<float>(glimpse);
    const bool halves = is_first_version_ || is_normalized_;
    float at = is_normalized_ ? offset * size : offset;
    if (is_centered_) at = (halves ? at / 2.0f : at) + size / 2.0f;
    // `offset` is the position of the glimpse's middle. In the op's second version, this holds only
    // if offsets are normalised and centred.
    if (is_first_version_ || (is_normalized_ && is_centered_)) at -= window / 2.0f;
    if (std::isnan(at)) return 0;
    return static_cast<int64_t>(std::clamp(at, -1e9f, 1e9f));
  }

  void Glimpse(const Tensor& images, int64_t b, int64_t top, int64_t left, Tensor* out) const {
    const int64_t height = images.dim(1), width = images.dim(2), channels = images.dim(3);
    const int64_t rows = out->dim(1), columns = out->dim(2);
    const float* image = images.data<float>() + b * height * width * channels;
    float* to = out->data<float>() + b * rows * columns * channels;
    const bool is_whole = top >= 0 && left >= 0 && top + rows <= height && left + columns <= width;
    if (!is_whole) {
      FillWithNoise(*noise_, image, height * width, channels, to, rows * columns);
    }
    const int64_t first = std::max<int64_t>(left, 0), last = std::min(left + columns, width);
    if (first >= last) return;
    for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + rows, height); ++y) {
      std::copy_n(image + (y * width + first) * channels, (last - first) * channels,
                  to + ((y - top) * columns + first - left) * channels);
    }
  }

  const bool is_first_version_, is_centered_, is_normalized_;
  const absl::StatusOr<Noise> noise_;
};
KERNEL(ExtractGlimpse, GlimpseKernel);
KERNEL(ExtractGlimpseV2, GlimpseKernel);

}  // namespace
}  // namespace sluice
