#include <cstring>

#include "graph/ir/graph.h"
#include "ops/image/resizing.h"

namespace sluice {
namespace {

constexpr TypeSet kReal = RealTypes();

class ResizeBilinearKernel : public Kernel {
 public:
  explicit ResizeBilinearKernel(KernelInit& init) : settings_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& images = c.input(0);
    SLUICE_RETURN_IF_ERROR(settings_.Check());
    SLUICE_RETURN_IF_ERROR(CheckImages(images));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ResizedShape(images, c.input(1)));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();  // the other sizes may be any
    SLUICE_ASSIGN_OR_RETURN(const Tensor wide, ElementsAs<float>(c, images));
    const Scaling ys(images.dim(1), shape.dim(1), settings_.align_corners, settings_.half_pixel);
    const Scaling xs(images.dim(2), shape.dim(2), settings_.align_corners, settings_.half_pixel);
    const int64_t channels = shape.dim(3), line = xs.in * channels;
    c.ParallelFor(shape.dim(0) * ys.out, 3.0 * static_cast<double>(xs.out * channels),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const auto y = ys.Neighbours(i % ys.out);
                      const float* image = wide.data<float>() + i / ys.out * ys.in * line;
                      Line(xs, y.lerp, image + y.lower * line, image + y.upper * line, channels,
                           out->data<float>() + i * xs.out * channels);
                    }
                  });
    return absl::OkStatus();
  }

 private:
  static void Line(const Scaling& xs, float y_lerp, const float* top, const float* bottom,
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

  const ResizeSettings settings_;
};
KERNEL(ResizeBilinear, ResizeBilinearKernel, {"T", kReal});

class ResizeBilinearGradKernel : public Kernel {
 public:
  explicit ResizeBilinearGradKernel(KernelInit& init) : settings_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &grads = c.input(0), &original = c.input(1);
    SLUICE_RETURN_IF_ERROR(settings_.Check());
    SLUICE_RETURN_IF_ERROR(CheckResizedGrads(grads, original));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, original.shape(), &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    DoubleSums sums;
    SLUICE_RETURN_IF_ERROR(sums.Open(c, out));
    const Scaling ys(original.dim(1), grads.dim(1), settings_.align_corners, settings_.half_pixel);
    const Scaling xs(original.dim(2), grads.dim(2), settings_.align_corners, settings_.half_pixel);
    const int64_t channels = grads.dim(3), line = xs.in * channels;
    c.ParallelFor(grads.dim(0), 6.0 * static_cast<double>(ys.out * xs.out * channels),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t b = begin; b < end; ++b) {
                      Image(ys, xs, channels, grads.data<float>() + b * ys.out * xs.out * channels,
                            sums.data() + b * ys.in * line);
                    }
                  });
    sums.Close();
    return absl::OkStatus();
  }

 private:
  static void Image(const Scaling& ys, const Scaling& xs, int64_t channels, const float* grad,
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

  const ResizeSettings settings_;
};
KERNEL(ResizeBilinearGrad, ResizeBilinearGradKernel, {"T", FloatTypes()});

// Pixels are moved as they are; the gradient adds them up.
class ResizeNearestKernel : public Kernel {
 public:
  explicit ResizeNearestKernel(KernelInit& init)
      : settings_(init), is_gradient_(init.node().op() == "ResizeNearestNeighborGrad") {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& images = c.input(0);
    SLUICE_RETURN_IF_ERROR(settings_.Check());
    SLUICE_RETURN_IF_ERROR(CheckImages(images));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ResizedShape(images, c.input(1)));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();  // the other sizes may be any
    const TensorShape &large = is_gradient_ ? shape : images.shape(),
                      &resized = is_gradient_ ? images.shape() : shape;
    const Scaling ys(large.dim(1), resized.dim(1), settings_.align_corners, settings_.half_pixel);
    const Scaling xs(large.dim(2), resized.dim(2), settings_.align_corners, settings_.half_pixel);
    return is_gradient_ ? Sum(c, ys, xs, out) : Take(c, ys, xs, out);
  }

 private:
  absl::Status Take(KernelContext& c, const Scaling& ys, const Scaling& xs, Tensor* out) const {
    const Tensor& images = c.input(0);
    const int64_t pixel = images.dim(3) * static_cast<int64_t>(DataTypeSize(images.dtype()));
    const char* from = static_cast<const char*>(images.raw());
    char* to = static_cast<char*>(out->raw());
    c.ParallelFor(out->dim(0) * ys.out, 3.0 * static_cast<double>(xs.out),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t y = ys.Nearest(i % ys.out, settings_.align_corners);
                      const char* line = from + (i / ys.out * ys.in + y) * xs.in * pixel;
                      for (int64_t x = 0; x < xs.out; ++x) {
                        std::memcpy(to + (i * xs.out + x) * pixel,
                                    line + xs.Nearest(x, settings_.align_corners) * pixel,
                                    static_cast<size_t>(pixel));
                      }
                    }
                  });
    return absl::OkStatus();
  }

  absl::Status Sum(KernelContext& c, const Scaling& ys, const Scaling& xs, Tensor* out) const {
    SLUICE_ASSIGN_OR_RETURN(const Tensor grads, ElementsAs<double>(c, c.input(0)));
    DoubleSums sums;
    SLUICE_RETURN_IF_ERROR(sums.Open(c, out));
    const int64_t channels = out->dim(3);
    const double* from = grads.data<double>();
    for (int64_t i = 0; i < out->dim(0) * ys.out; ++i) {
      const int64_t line =
          (i / ys.out * ys.in + ys.Nearest(i % ys.out, settings_.align_corners)) * xs.in;
      for (int64_t x = 0; x < xs.out; ++x) {
        double* to = sums.data() + (line + xs.Nearest(x, settings_.align_corners)) * channels;
        for (int64_t k = 0; k < channels; ++k) to[k] += *from++;
      }
    }
    sums.Close();
    return absl::OkStatus();
  }

  const ResizeSettings settings_;
  const bool is_gradient_;
};
KERNEL(ResizeNearestNeighbor, ResizeNearestKernel, {"T", kReal});
KERNEL(ResizeNearestNeighborGrad, ResizeNearestKernel, {"T", kReal});

}  // namespace
}  // namespace sluice
