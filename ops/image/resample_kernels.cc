// Kernels that resize images bicubically and by areas.
#include <array>
#include <vector>

#include "graph/tensor/room.h"
#include "ops/image/resizing.h"

namespace sluice {
namespace {

constexpr TypeSet kReal = RealTypes();

// The four pixels around a position, and their weights.
struct Cubic {
  std::array<int64_t, 4> at;
  std::array<float, 4> weights;
};

// As in TensorFlow, positions are rounded to 1/1024 of the distance between two pixels.
constexpr int kSteps = 1024;

// The cubic convolution kernel with the slope `a` at 1. Source: R. G. Keys, "Cubic convolution
// interpolation for digital image processing" (1981).
class CubicTable {
 public:
  explicit CubicTable(double a) {
    for (int i = 0; i <= kSteps; ++i) {
      float x = static_cast<float>(i) / kSteps;
      inner_[i] = static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1);
      x += 1;
      outer_[i] = static_cast<float>(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
    }
  }
  std::array<float, 4> Weights(int step) const {
    return {outer_[step], inner_[step], inner_[kSteps - step], outer_[kSteps - step]};
  }

 private:
  // The weights at distances of i / kSteps and of 1 + i / kSteps.
  std::array<float, kSteps + 1> inner_, outer_;
};

// If half_pixel is set, pixels outside the image have no weight, and the weights of the others are
// scaled to a sum of 1. Otherwise, the nearest pixels at the edge stand for pixels outside.
Cubic CubicAt(const Scaling& s, int64_t x) {
  static const CubicTable keys(-0.5), old(-0.75);
  const float position = s.At(x), floor = std::floor(position);
  const auto first = static_cast<int64_t>(floor) - 1;
  const auto step = static_cast<int>(std::lrintf((position - floor) * kSteps));
  Cubic c;
  c.weights = (s.half_pixel ? keys : old).Weights(step);
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    c.at[i] = std::clamp(first + i, int64_t{0}, s.in - 1);
    if (s.half_pixel && c.at[i] != first + i) c.weights[i] = 0;
    sum += c.weights[i];
  }
  if (s.half_pixel && std::abs(sum) >= 1000.0f * std::numeric_limits<float>::min()) {
    for (float& w : c.weights) w /= sum;
  }
  return c;
}

absl::StatusOr<std::vector<Cubic>> CubicsOf(const Scaling& s) {
  SLUICE_RETURN_IF_ERROR(CheckRoom(s.out, sizeof(Cubic), "columns"));
  std::vector<Cubic> all;
  all.reserve(static_cast<size_t>(s.out));
  for (int64_t x = 0; x < s.out; ++x) all.push_back(CubicAt(s, x));
  return all;
}

void BlendLines(const Cubic& y, const float* image, int64_t line, float* to) {
  const float *a = image + y.at[0] * line, *b = image + y.at[1] * line;
  const float *c = image + y.at[2] * line, *d = image + y.at[3] * line;
  for (int64_t k = 0; k < line; ++k) {
    to[k] = a[k] * y.weights[0] + b[k] * y.weights[1] + c[k] * y.weights[2] + d[k] * y.weights[3];
  }
}

void BlendPixels(const std::vector<Cubic>& columns, const float* line, int64_t channels,
                 float* to) {
  for (const Cubic& x : columns) {
    for (int64_t k = 0; k < channels; ++k) {
      float sum = 0;
      for (int i = 0; i < 4; ++i) sum += line[x.at[i] * channels + k] * x.weights[i];
      *to++ = sum;
    }
  }
}

absl::Status ResizeBicubic(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, AllocateResized(c, settings));
  if (out->num_elements() == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor images, ElementsAs<float>(c, c.input(0)));
  const Scaling ys = settings.ScalingOf(images, *out, 1), xs = settings.ScalingOf(images, *out, 2);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Cubic> columns, CubicsOf(xs));
  const int64_t channels = out->dim(3), line = xs.in * channels;
  c.ParallelFor(out->dim(0) * ys.out, 6.0 * static_cast<double>((xs.out + xs.in) * channels),
                [&](int64_t begin, int64_t end) {
                  std::vector<float> blended(static_cast<size_t>(line));
                  for (int64_t i = begin; i < end; ++i) {
                    const float* image = images.data<float>() + i / ys.out * ys.in * line;
                    BlendLines(CubicAt(ys, i % ys.out), image, line, blended.data());
                    BlendPixels(columns, blended.data(), channels,
                                out->data<float>() + i * xs.out * channels);
                  }
                });
  return absl::OkStatus();
}
KERNEL(ResizeBicubic, ResizeKernel<ResizeBicubic>, {"T", kReal});

// Adds the gradient of one resized image to the gradient of the image.
void AddBicubicGrad(const Scaling& ys, const std::vector<Cubic>& columns, int64_t channels,
                    const float* grad, double* to, int64_t line) {
  for (int64_t y = 0; y < ys.out; ++y) {
    const Cubic row = CubicAt(ys, y);
    for (const Cubic& x : columns) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          const double weight = static_cast<double>(row.weights[i]) * x.weights[j];
          double* pixel = to + row.at[i] * line + x.at[j] * channels;
          for (int64_t k = 0; k < channels; ++k) pixel[k] += weight * grad[k];
        }
      }
      grad += channels;
    }
  }
}

absl::Status ResizeBicubicGrad(KernelContext& c, const ResizeSettings& settings) {
  const Tensor &grads = c.input(0), &original = c.input(1);
  SLUICE_RETURN_IF_ERROR(settings.Check());
  SLUICE_RETURN_IF_ERROR(CheckResizedGrads(grads, original));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, original.shape()));
  if (out->num_elements() == 0) return absl::OkStatus();
  const Scaling ys = settings.ScalingOf(original, grads, 1);
  const Scaling xs = settings.ScalingOf(original, grads, 2);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Cubic> columns, CubicsOf(xs));
  const int64_t channels = grads.dim(3), size = ys.out * xs.out * channels;
  return SumInDouble(c, out, [&](double* sums) {
    c.ParallelFor(grads.dim(0), 20.0 * static_cast<double>(size), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        AddBicubicGrad(ys, columns, channels, grads.data<float>() + b * size,
                       sums + b * ys.in * xs.in * channels, xs.in * channels);
      }
    });
  });
}
KERNEL(ResizeBicubicGrad, ResizeKernel<ResizeBicubicGrad>, {"T", {DT_FLOAT, DT_DOUBLE}});

// The pixels that a position of the result covers, and the part of each that it covers.
struct Cover {
  int64_t first;
  std::vector<float> parts;
};

Cover CoverOf(const Scaling& s, int64_t x) {
  if (s.scale == 0) return {0, {1.0f}};  // aligned corners of an image of one pixel
  const float begin = static_cast<float>(x) * s.scale, end = static_cast<float>(x + 1) * s.scale;
  Cover c{static_cast<int64_t>(std::floor(begin)), {}};
  const auto last = static_cast<int64_t>(std::ceil(end));
  for (int64_t i = c.first; i < last; ++i) {
    const auto low = static_cast<float>(i), high = static_cast<float>(i + 1);
    const float part =
        low < begin ? (high > end ? s.scale : high - begin) : (high > end ? end - low : 1.0f);
    c.parts.push_back(part);
  }
  return c;
}

// Writes the mean of the covered pixels, weighted by their covered parts.
void AverageArea(const Cover& row, int64_t height, const Cover& column, int64_t width,
                 const float* image, int64_t channels, float inverse_area, float* to) {
  std::fill_n(to, channels, 0.0f);
  for (size_t y = 0; y < row.parts.size(); ++y) {
    const int64_t at_y = std::clamp(row.first + static_cast<int64_t>(y), int64_t{0}, height - 1);
    for (size_t x = 0; x < column.parts.size(); ++x) {
      const int64_t at_x =
          std::clamp(column.first + static_cast<int64_t>(x), int64_t{0}, width - 1);
      const float* pixel = image + (at_y * width + at_x) * channels;
      const float part = row.parts[y] * column.parts[x];
      for (int64_t k = 0; k < channels; ++k) to[k] += pixel[k] * part;
    }
  }
  for (int64_t k = 0; k < channels; ++k) to[k] *= inverse_area;
}

absl::Status ResizeArea(KernelContext& c, const ResizeSettings& settings) {
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, AllocateResized(c, settings));
  if (out->num_elements() == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const Tensor images, ElementsAs<float>(c, c.input(0)));
  const Scaling ys = settings.ScalingOf(images, *out, 1), xs = settings.ScalingOf(images, *out, 2);
  const float inverse_area =
      1.0f / ((ys.scale == 0 ? 1 : ys.scale) * (xs.scale == 0 ? 1 : xs.scale));
  SLUICE_RETURN_IF_ERROR(CheckRoom(xs.out, sizeof(Cover), "columns"));
  std::vector<Cover> columns;
  columns.reserve(static_cast<size_t>(xs.out));
  for (int64_t x = 0; x < xs.out; ++x) columns.push_back(CoverOf(xs, x));
  const int64_t channels = out->dim(3), line = xs.in * channels;
  c.ParallelFor(out->dim(0) * ys.out,
                2.0 * (ys.scale + 2) * static_cast<double>(line + xs.out * channels),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const Cover row = CoverOf(ys, i % ys.out);
                    const float* image = images.data<float>() + i / ys.out * ys.in * line;
                    float* to = out->data<float>() + i * xs.out * channels;
                    for (const Cover& column : columns) {
                      AverageArea(row, ys.in, column, xs.in, image, channels, inverse_area, to);
                      to += channels;
                    }
                  }
                });
  return absl::OkStatus();
}
KERNEL(ResizeArea, ResizeKernel<ResizeArea>, {"T", kReal});

}  // namespace
}  // namespace sluice
