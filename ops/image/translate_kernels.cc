// Kernels that scale and translate images, and their gradients.
#include <limits>
#include <numbers>
#include <string_view>
#include <vector>

#include "graph/tensor/room.h"
#include "ops/image/resizing.h"

namespace sluice {
namespace {

// A filter gives the weight of a pixel at a distance from the sampled position. Beyond `radius`,
// the weight is 0.
struct Filter {
  float radius;
  float (*weight)(float distance);
};

template <int kRadius>
float Lanczos(float x) {
  constexpr float pi = std::numbers::pi_v<float>, radius = kRadius;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}

// Each of these filters consists of a cubic on [0, 1) and another one on [1, 2). Sources: Keys
// (1981); Mitchell and Netravali (1988).
float Keys(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2 : (1.5f * x - 2.5f) * x * x + 1;
}
float Mitchell(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-7.0f / 18 * x + 2) * x - 10.0f / 3) * x + 16.0f / 9
                : (7.0f / 6 * x - 2) * x * x + 8.0f / 9;
}

absl::StatusOr<Filter> FilterOf(std::string_view name) {
  static const std::pair<std::string_view, Filter> kFilters[] = {
      {"lanczos1", {1, Lanczos<1>}},
      {"lanczos3", {3, Lanczos<3>}},
      {"lanczos5", {5, Lanczos<5>}},
      {"gaussian", {1.5f, [](float x) { return x >= 1.5f ? 0.0f : std::exp(-x * x / 0.5f); }}},
      {"box", {1, [](float x) { return x < 0.5f    ? 1.0f
                                       : x == 0.5f ? 0.5f
                                                   : 0.0f; }}},
      {"triangle", {1, [](float x) { return x < 1 ? 1 - x : 0.0f; }}},
      {"keyscubic", {2, Keys}},
      {"mitchellcubic", {2, Mitchell}},
  };
  for (const auto& [known, filter] : kFilters) {
    if (known == name) return filter;
  }
  return InvalidArgument("Unrecognized kernel type: ", name);
}

// The pixels that determine a position of the result, along one dimension.
struct Span {
  int64_t first = 0;
  std::vector<float> weights;  // of the pixels from `first` on, none outside the image
};

std::vector<Span> SpansOf(const Filter& filter, int64_t in, int64_t out, float scale, float shift,
                          bool antialias) {
  const float inverse = 1 / scale, inverse_shift = -inverse * shift;
  // If the image is made smaller, a pixel of the result covers several pixels, so the filter is
  // wider.
  const float growth = antialias ? std::max(inverse, 1.0f) : 1.0f;
  std::vector<Span> spans(static_cast<size_t>(out));
  for (int64_t x = 0; x < out; ++x) {
    const float at = (static_cast<float>(x) + 0.5f) * inverse + inverse_shift;
    if (!(at >= 0 && at <= static_cast<float>(in))) continue;
    const float reach = filter.radius * growth;
    const auto bound = [in](float v) {
      // Takes the minimum once more, because the float `in - 1` may have been rounded up.
      return std::min(static_cast<int64_t>(std::clamp(v, 0.0f, static_cast<float>(in - 1))),
                      in - 1);
    };
    Span& span = spans[static_cast<size_t>(x)];
    span.first = bound(std::ceil(at - reach - 0.5f));
    const int64_t last = bound(std::floor(at + reach - 0.5f));
    float sum = 0;
    for (int64_t i = span.first; i <= last; ++i) {
      const float distance = static_cast<float>(i) + 0.5f - at;
      span.weights.push_back(filter.weight(std::abs(distance * (1 / growth))));
      sum += span.weights.back();
    }
    if (std::abs(sum) < 1000.0f * std::numeric_limits<float>::min()) {
      span.weights.clear();
    } else {
      for (float& w : span.weights) w *= 1 / sum;
    }
  }
  return spans;
}

absl::Status CheckPair(const Tensor& t) {
  if (t.rank() == 1 && t.num_elements() == 2) return absl::OkStatus();
  return InvalidArgument(
      "scale and translation must be 1-dimensional with two elements, got shape ",
      t.shape().ToString());
}

class TranslateBase : public Kernel {
 public:
  explicit TranslateBase(const KernelInit& init)
      : filter_(FilterOf(init.attr<std::string>("kernel_type"))),
        antialias_(init.attr<bool>("antialias")) {}

 protected:
  struct Spans {
    std::vector<Span> rows, columns;
  };
  // Computes the spans from the scale (input 2) and the translation (input 3).
  absl::StatusOr<Spans> Find(KernelContext& c, const TensorShape& image,
                             const TensorShape& result) const {
    SLUICE_RETURN_IF_ERROR(filter_.status());
    SLUICE_RETURN_IF_ERROR(CheckPair(c.input(2)));
    SLUICE_RETURN_IF_ERROR(CheckPair(c.input(3)));
    const float *scale = c.input(2).data<float>(), *shift = c.input(3).data<float>();
    SLUICE_INVALID_IF(!(scale[0] > 0 && scale[1] > 0), "Scale must be greater than zero, got ",
                      scale[0], " and ", scale[1]);
    if (result.num_elements() == 0) return Spans();  // avoids loops over huge sizes
    for (int d : {1, 2}) {
      SLUICE_RETURN_IF_ERROR(CheckRoom(result.dim(d), sizeof(Span), "lines or columns"));
    }
    return Spans{SpansOf(*filter_, image.dim(1), result.dim(1), scale[0], shift[0], antialias_),
                 SpansOf(*filter_, image.dim(2), result.dim(2), scale[1], shift[1], antialias_)};
  }

 private:
  const absl::StatusOr<Filter> filter_;
  const bool antialias_;
};

class ScaleAndTranslateKernel : public TranslateBase {
 public:
  explicit ScaleAndTranslateKernel(KernelInit& init) : TranslateBase(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& images = c.input(0);
    if (images.rank() != 4) return CheckImages(images);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ResizedShape(images, c.input(1)));
    SLUICE_RETURN_IF_ERROR(CheckImages(images));
    SLUICE_ASSIGN_OR_RETURN(const Spans spans, Find(c, images.shape(), shape));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(const Tensor wide, ElementsAs<float>(c, images));
    const int64_t rows = shape.dim(1), channels = shape.dim(3), line = images.dim(2) * channels;
    c.ParallelFor(shape.dim(0) * rows, 8.0 * static_cast<double>(line + shape.dim(2) * channels),
                  [&](int64_t begin, int64_t end) {
                    std::vector<float> blended(static_cast<size_t>(line));
                    for (int64_t i = begin; i < end; ++i) {
                      const float* image = wide.data<float>() + i / rows * images.dim(1) * line;
                      Blend(spans.rows[static_cast<size_t>(i % rows)], image, line, blended.data());
                      float* to = out->data<float>() + i * shape.dim(2) * channels;
                      for (const Span& x : spans.columns) {
                        Blend(x, blended.data(), channels, to);
                        to += channels;
                      }
                    }
                  });
    return absl::OkStatus();
  }

 private:
  // Writes the weighted sum of blocks of n numbers.
  static void Blend(const Span& span, const float* from, int64_t n, float* to) {
    std::fill_n(to, n, 0.0f);
    from += span.first * n;
    for (float weight : span.weights) {
      for (int64_t k = 0; k < n; ++k) to[k] += weight * from[k];
      from += n;
    }
  }
};
KERNEL(ScaleAndTranslate, ScaleAndTranslateKernel, {"T", RealTypes()});

class ScaleAndTranslateGradKernel : public TranslateBase {
 public:
  explicit ScaleAndTranslateGradKernel(KernelInit& init) : TranslateBase(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &grads = c.input(0), &original = c.input(1);
    SLUICE_RETURN_IF_ERROR(ExpectRank(grads, 4, "input_grad must be 4-dimensional, got shape "));
    if (original.rank() != 4) return CheckImages(original);
    SLUICE_INVALID_IF(grads.dim(0) != original.dim(0) || grads.dim(3) != original.dim(3),
                      "grads and original_image must have the same batch and channels, got ",
                      grads.shape().ToString(), " and ", original.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(const Spans spans, Find(c, original.shape(), grads.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, original.shape()));
    std::fill_n(out->data<float>(), out->num_elements(), 0.0f);
    if (out->num_elements() == 0 || grads.num_elements() == 0) return absl::OkStatus();
    const int64_t channels = grads.dim(3), line = original.dim(2) * channels;
    c.ParallelFor(
        grads.dim(0), 16.0 * static_cast<double>(grads.dim(1) * (line + grads.dim(2) * channels)),
        [&](int64_t begin, int64_t end) {
          std::vector<float> spread(static_cast<size_t>(line));
          for (int64_t b = begin; b < end; ++b) {
            const float* grad = grads.data<float>() + b * grads.dim(1) * grads.dim(2) * channels;
            float* image = out->data<float>() + b * original.dim(1) * line;
            for (const Span& y : spans.rows) {
              std::fill(spread.begin(), spread.end(), 0.0f);
              for (const Span& x : spans.columns) {
                Spread(x, grad, channels, spread.data());
                grad += channels;
              }
              Spread(y, spread.data(), line, image);
            }
          }
        });
    return absl::OkStatus();
  }

 private:
  static void Spread(const Span& span, const float* from, int64_t n, float* to) {
    to += span.first * n;
    for (float weight : span.weights) {
      for (int64_t k = 0; k < n; ++k) to[k] += weight * from[k];
      to += n;
    }
  }
};
KERNEL(ScaleAndTranslateGrad, ScaleAndTranslateGradKernel, {"T", DT_FLOAT});

}  // namespace
}  // namespace sluice
