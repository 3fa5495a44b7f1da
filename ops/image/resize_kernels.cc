// Kernels that resize images to the nearest pixels or bilinearly, and their gradients.
#include <cstring>

#include "ops/image/resizing.h"

namespace sluice {
namespace {

constexpr TypeSet kReal = RealTypes();

void BlendLine(const Scaling& xs, float y_lerp, const float* top, const float* bottom,
               int64_t channels, float* to) {
  for (int64_t x = 0; x < xs.out; ++x) {
    const auto at = xs.Neighbours(x);
    const int64_t left = at.lower * channels, right = at.upper * channels;
    for (int64_t k = 0; k < channels; ++k) {
      const float above = top[left + k] + (top[right + k] - top[left + k]) * at.lerp;
      const float below = bottom[left + k] + (bottom[right + k] - bottom[left + k]) * at.lerp;
      *to++ = above + (below - above) * y_lerp;
    }
  }
}

absl::Status ResizeBilinear(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, AllocateResized(c, settings));
  if (out->num_elements() == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor images, ElementsAs<float>(c, c.input(0)));
  const Scaling ys = settings.ScalingOf(images, *out, 1), xs = settings.ScalingOf(images, *out, 2);
  const int64_t channels = out->dim(3), line = xs.in * channels;
  c.ParallelFor(out->dim(0) * ys.out, 3.0 * static_cast<double>(xs.out * channels),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const auto y = ys.Neighbours(i % ys.out);
                    const float* image = images.data<float>() + i / ys.out * ys.in * line;
                    BlendLine(xs, y.lerp, image + y.lower * line, image + y.upper * line, channels,
                              out->data<float>() + i * xs.out * channels);
                  }
                });
  return absl::OkStatus();
}
KERNEL(ResizeBilinear, ResizeKernel<ResizeBilinear>, {"T", kReal});

// Adds the gradient of one resized image to the gradient of the image.
void AddBilinearGrad(const Scaling& ys, const Scaling& xs, int64_t channels, const float* grad,
                     double* to) {
  const int64_t line = xs.in * channels;
  for (int64_t y = 0; y < ys.out; ++y) {
    const auto v = ys.Neighbours(y);
    for (int64_t x = 0; x < xs.out; ++x) {
      const auto h = xs.Neighbours(x);
      for (int64_t k = 0; k < channels; ++k) {
        const double g = *grad++;
        to[v.lower * line + h.lower * channels + k] += g * (1 - v.lerp) * (1 - h.lerp);
        to[v.lower * line + h.upper * channels + k] += g * (1 - v.lerp) * h.lerp;
        to[v.upper * line + h.lower * channels + k] += g * v.lerp * (1 - h.lerp);
        to[v.upper * line + h.upper * channels + k] += g * v.lerp * h.lerp;
      }
    }
  }
}

absl::Status ResizeBilinearGrad(KernelContext& c, const ResizeSettings& settings) {
  const Tensor &grads = c.input(0), &original = c.input(1);
  SLUICE_RETURN_IF_ERROR(settings.Check());
  SLUICE_RETURN_IF_ERROR(CheckResizedGrads(grads, original));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, original.shape()));
  if (out->num_elements() == 0) return absl::OkStatus();
  const Scaling ys = settings.ScalingOf(original, grads, 1);
  const Scaling xs = settings.ScalingOf(original, grads, 2);
  const int64_t channels = grads.dim(3), size = ys.out * xs.out * channels;
  return SumInDouble(c, out, [&](double* sums) {
    c.ParallelFor(grads.dim(0), 6.0 * static_cast<double>(size), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        AddBilinearGrad(ys, xs, channels, grads.data<float>() + b * size,
                        sums + b * ys.in * xs.in * channels);
      }
    });
  });
}
KERNEL(ResizeBilinearGrad, ResizeKernel<ResizeBilinearGrad>, {"T", FloatTypes()});

absl::Status ResizeNearest(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, AllocateResized(c, settings));
  if (out->num_elements() == 0) return absl::OkStatus();
  const Tensor& images = c.input(0);
  const Scaling ys = settings.ScalingOf(images, *out, 1), xs = settings.ScalingOf(images, *out, 2);
  const int64_t pixel = images.dim(3) * static_cast<int64_t>(DataTypeSize(images.dtype()));
  const char* from = static_cast<const char*>(images.raw());
  char* to = static_cast<char*>(out->raw());
  c.ParallelFor(out->dim(0) * ys.out, 3.0 * static_cast<double>(xs.out),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t y = ys.Nearest(i % ys.out, settings.align_corners);
                    const char* line = from + (i / ys.out * ys.in + y) * xs.in * pixel;
                    for (int64_t x = 0; x < xs.out; ++x) {
                      std::memcpy(to + (i * xs.out + x) * pixel,
                                  line + xs.Nearest(x, settings.align_corners) * pixel,
                                  static_cast<size_t>(pixel));
                    }
                  }
                });
  return absl::OkStatus();
}
KERNEL(ResizeNearestNeighbor, ResizeKernel<ResizeNearest>, {"T", kReal});

absl::Status ResizeNearestGrad(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, AllocateResized(c, settings));
  if (out->num_elements() == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor grads, ElementsAs<double>(c, c.input(0)));
  const Scaling ys = settings.ScalingOf(*out, grads, 1), xs = settings.ScalingOf(*out, grads, 2);
  const int64_t channels = out->dim(3);
  return SumInDouble(c, out, [&](double* sums) {
    const double* from = grads.data<double>();
    for (int64_t i = 0; i < out->dim(0) * ys.out; ++i) {
      const int64_t line =
          (i / ys.out * ys.in + ys.Nearest(i % ys.out, settings.align_corners)) * xs.in;
      for (int64_t x = 0; x < xs.out; ++x) {
        double* to = sums + (line + xs.Nearest(x, settings.align_corners)) * channels;
        for (int64_t k = 0; k < channels; ++k) to[k] += *from++;
      }
    }
  });
}
KERNEL(ResizeNearestNeighborGrad, ResizeKernel<ResizeNearestGrad>, {"T", kReal});

}  // namespace
}  // namespace sluice
