// Kernels that convert colour spaces and adjust hue, saturation and contrast.
#include <algorithm>
#include <cmath>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/image/resizing.h"

namespace sluice {
namespace {

template <typename T>
using Pixel = std::conditional_t<kIsFloat16<T>, float, T>;

// Converts a pixel from RGB to HSV. The hue is in [0, 1): red is 0, green is 1/3.
template <typename F>
inline void ToHsv(F r, F g, F b, F* h, F* s, F* v) {
  *v = std::max({r, g, b});
  const F range = *v - std::min({r, g, b});
  *s = *v > 0 ? range / *v : F(0);
  const F norm = 1 / (6 * range);
  *h = r == *v ? norm * (g - b) : g == *v ? norm * (b - r) + F(2) / 6 : norm * (r - g) + F(4) / 6;
  if (range <= 0) *h = 0;
  if (*h < 0) *h += 1;
}

template <typename F>
inline void ToRgb(F h, F s, F v, F* r, F* g, F* b) {
  const F turn = h * 6;
  const auto clamp = [](F x) { return std::min(std::max(x, F(0)), F(1)); };
  const F red = clamp(std::abs(turn - 3) - 1);
  const F green = clamp(2 - std::abs(turn - 2));
  const F blue = clamp(2 - std::abs(turn - 4));
  *r = (1 - s + s * red) * v;
  *g = (1 - s + s * green) * v;
  *b = (1 - s + s * blue) * v;
}

template <typename T, bool kToHsv>
absl::Status ConvertColors(KernelContext& c) {
  using F = Pixel<T>;
  const Tensor& images = c.input(0);
  SLUICE_INVALID_IF(images.rank() < 1, "input must be at least 1-D, got a scalar");
  if (images.dim(images.rank() - 1) != 3) {
    return absl::FailedPreconditionError(StrCat("input must have 3 channels but input only has ",
                                                images.dim(images.rank() - 1), " channels."));
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, images.shape()));
  const T* from = images.data<T>();
  T* to = out->data<T>();
  c.ParallelFor(images.num_elements() / 3, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      const F x = from[i], y = from[i + 1], z = from[i + 2];
      F a, b, d;
      if (kToHsv) {
        ToHsv(x, y, z, &a, &b, &d);
      } else {
        ToRgb(x, y, z, &a, &b, &d);
      }
      to[i] = T(a);
      to[i + 1] = T(b);
      to[i + 2] = T(d);
    }
  });
  return absl::OkStatus();
}
template <typename T>
absl::Status RgbToHsv(KernelContext& c) {
  return ConvertColors<T, true>(c);
}
template <typename T>
absl::Status HsvToRgb(KernelContext& c) {
  return ConvertColors<T, false>(c);
}
FUNCTION_KERNELS(RGBToHSV, "T", RgbToHsv, FloatList);
FUNCTION_KERNELS(HSVToRGB, "T", HsvToRgb, FloatList);

absl::Status CheckScalar(const Tensor& t, const char* name) {
  if (t.rank() == 0) return absl::OkStatus();
  return InvalidArgument(name, " must be scalar, got shape ", t.shape().ToString());
}

absl::Status CheckAtLeast3d(const Tensor& images) {
  if (images.rank() >= 3) return absl::OkStatus();
  return InvalidArgument("input must be at least 3-D, got shape ", images.shape().ToString());
}

// Calls change(&r, &g, &b, factor) for each pixel. Input 1 is the factor.
template <typename F>
absl::Status AdjustPixels(KernelContext& c, const char* factor_name, F change) {
  const Tensor &images = c.input(0), &factor = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckAtLeast3d(images));
  SLUICE_RETURN_IF_ERROR(CheckScalar(factor, factor_name));
  SLUICE_INVALID_IF(images.dim(images.rank() - 1) != 3,
                    "input must have 3 channels but instead has ", images.dim(images.rank() - 1),
                    " channels.");
  const float by = factor.data<float>()[0];
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.ForwardOrAllocate({0}, 0, images.shape()));
  const float* from = images.data<float>();
  float* to = out->data<float>();
  c.ParallelFor(images.num_elements() / 3, 15, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      float r = from[i], g = from[i + 1], b = from[i + 2];
      change(&r, &g, &b, by);
      to[i] = r;
      to[i + 1] = g;
      to[i + 2] = b;
    }
  });
  return absl::OkStatus();
}

// Rotates the hue. The greatest and the least value of a pixel do not change, even if they are
// outside [0, 1]. The third value moves between them.
void TurnHue(float* r, float* g, float* b, float by) {
  const float high = std::max({*r, *g, *b}), low = std::min({*r, *g, *b});
  const float range = high - low;
  float turn = 0;
  if (range > 0) {
    turn = *r == high   ? (*g - *b) / range
           : *g == high ? 2 + (*b - *r) / range
                        : 4 + (*r - *g) / range;
  }
  turn = std::fmod(turn + by * 6, 6.0f);
  if (turn < 0) turn += 6;
  const auto at = [&](float distance) { return low + range * std::clamp(distance, 0.0f, 1.0f); };
  *r = at(std::abs(turn - 3) - 1);
  *g = at(2 - std::abs(turn - 2));
  *b = at(2 - std::abs(turn - 4));
}

void ScaleSaturation(float* r, float* g, float* b, float by) {
  float h, s, v;
  ToHsv(*r, *g, *b, &h, &s, &v);
  s = std::min(1.0f, std::max(0.0f, s * by));
  if (h == 1) {  // rounded up to a full circle, for which TensorFlow's kernel has no colour
    *r = *g = *b = v - s * v;
    return;
  }
  ToRgb(h, s, v, r, g, b);
}

absl::Status AdjustHue(KernelContext& c) { return AdjustPixels(c, "delta", TurnHue); }
absl::Status AdjustSaturation(KernelContext& c) {
  return AdjustPixels(c, "scale", ScaleSaturation);
}
using AdjustHueKernel = FunctionKernel<AdjustHue>;
using AdjustSaturationKernel = FunctionKernel<AdjustSaturation>;
KERNEL(AdjustHue, AdjustHueKernel, {"T", DT_FLOAT});
KERNEL(AdjustSaturation, AdjustSaturationKernel, {"T", DT_FLOAT});

// Computes (x - mean) * factor + mean for each channel of an image, clamped to [least, most].
absl::Status Contrast(KernelContext& c, float least, float most) {
  const Tensor& images = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckAtLeast3d(images));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(1), "contrast_factor"));
  const float factor = c.input(1).data<float>()[0];
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, images.shape()));
  if (images.num_elements() == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor wide, ElementsAs<float>(c, images));
  const int64_t channels = images.dim(images.rank() - 1);
  const int64_t pixels = images.dim(images.rank() - 3) * images.dim(images.rank() - 2);
  c.ParallelFor(images.num_elements() / (pixels * channels),
                1.5 * static_cast<double>(pixels * channels), [&](int64_t begin, int64_t end) {
                  std::vector<double> sums(static_cast<size_t>(channels));
                  std::vector<float> means(static_cast<size_t>(channels));
                  for (int64_t i = begin; i < end; ++i) {
                    const float* from = wide.data<float>() + i * pixels * channels;
                    float* to = out->data<float>() + i * pixels * channels;
                    std::fill(sums.begin(), sums.end(), 0.0);
                    for (int64_t p = 0; p < pixels; ++p) {
                      for (int64_t k = 0; k < channels; ++k) sums[k] += from[p * channels + k];
                    }
                    for (int64_t k = 0; k < channels; ++k) {
                      means[k] = static_cast<float>(sums[k] / static_cast<double>(pixels));
                    }
                    for (int64_t p = 0; p < pixels; ++p) {
                      for (int64_t k = 0; k < channels; ++k) {
                        const float y = (from[p * channels + k] - means[k]) * factor + means[k];
                        to[p * channels + k] = std::max(std::min(y, most), least);
                      }
                    }
                  }
                });
  return absl::OkStatus();
}

absl::Status AdjustContrast(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(CheckAtLeast3d(c.input(0)));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(2), "min_value"));
  SLUICE_RETURN_IF_ERROR(CheckScalar(c.input(3), "max_value"));
  return Contrast(c, c.input(2).data<float>()[0], c.input(3).data<float>()[0]);
}
absl::Status AdjustContrastV2(KernelContext& c) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  return Contrast(c, -kInf, kInf);
}
using AdjustContrastKernel = FunctionKernel<AdjustContrast>;
using AdjustContrastV2Kernel = FunctionKernel<AdjustContrastV2>;
KERNEL(AdjustContrast, AdjustContrastKernel,
       {"T", {DT_UINT8, DT_INT8, DT_INT16, DT_INT32, DT_FLOAT, DT_DOUBLE}});
KERNEL(AdjustContrastv2, AdjustContrastV2Kernel, {"T", DT_FLOAT});

}  // namespace
}  // namespace sluice
