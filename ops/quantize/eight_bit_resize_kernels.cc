// Kernel of QuantizedResizeBilinear, which interpolates integers in fixed point.
#include <cstdint>
#include <cstring>

#include "executor/kernel/context.h"
#include "ops/image/scaling.h"
#include "ops/quantize/integer_range.h"

namespace sluice {
namespace {

// Interpolates integers of type T. Computes in type Wide, with kBits bits after the point.
template <typename T, typename Wide, int kBits>
struct FixedPoint {
  using Element = T;
  static constexpr Wide kOne = Wide{1} << kBits;

  static Wide Weight(float lerp) { return static_cast<Wide>(lerp * static_cast<float>(kOne)); }
  static T Blend(T top_left, T top_right, T bottom_left, T bottom_right, Wide x, Wide y) {
    const Wide top = Of(top_left) * kOne + (Of(top_right) - Of(top_left)) * x;
    const Wide bottom = Of(bottom_left) * kOne + (Of(bottom_right) - Of(bottom_left)) * x;
    const Wide blended = top + (bottom - top) / kOne * y;
    return static_cast<T>((blended + kOne / 2) / kOne);
  }
  // Converts to float first, as TensorFlow does for 32-bit integers.
  static Wide Of(T v) { return static_cast<Wide>(static_cast<float>(v)); }
};

struct FloatingPoint {
  using Element = float;

  static float Weight(float lerp) { return lerp; }
  static float Blend(float top_left, float top_right, float bottom_left, float bottom_right,
                     float x, float y) {
    const float top = top_left + (top_right - top_left) * x;
    const float bottom = bottom_left + (bottom_right - bottom_left) * x;
    return top + (bottom - top) * y;
  }
};

// Computes lines [begin, end) of the result, which are numbered over all images.
template <typename Arithmetic>
void ResizeLines(const Tensor& images, const Scaling& ys, const Scaling& xs, int64_t begin,
                 int64_t end, Tensor* out) {
  using T = typename Arithmetic::Element;
  const int64_t channels = images.dim(3), line = xs.in * channels;
  for (int64_t i = begin; i < end; ++i) {
    const auto v = ys.Neighbours(i % ys.out);
    const T* image = IntegersOf<T>(images) + i / ys.out * ys.in * line;
    const T *top = image + v.lower * line, *bottom = image + v.upper * line;
    T* to = IntegersOf<T>(out) + i * xs.out * channels;
    const auto y = Arithmetic::Weight(v.lerp);
    for (int64_t k = 0; k < xs.out; ++k) {
      const auto h = xs.Neighbours(k);
      const auto x = Arithmetic::Weight(h.lerp);
      const int64_t left = h.lower * channels, right = h.upper * channels;
      for (int64_t c = 0; c < channels; ++c) {
        *to++ = Arithmetic::Blend(top[left + c], top[right + c], bottom[left + c],
                                  bottom[right + c], x, y);
      }
    }
  }
}

absl::StatusOr<TensorShape> ResultShape(const KernelContext& c) {
  const Tensor &images = c.input(0), &size = c.input(1);
  SLUICE_RETURN_IF_ERROR(ExpectRank(images, 4, "input must be 4-dimensional, got shape "));
  SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 2,
                    "shape_t must have two elements, got shape ", size.shape().ToString());
  const int32_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
  SLUICE_INVALID_IF(height <= 0 || width <= 0, "output dimensions must be positive, got ", height,
                    " and ", width);
  SLUICE_INVALID_IF(images.dim(3) <= 0, "image must have at least one channel");
  SLUICE_INVALID_IF(images.dim(1) <= 0 || images.dim(2) <= 0,
                    "input image must be of non-zero size, got shape ", images.shape().ToString());
  return TensorShape::Make({images.dim(0), height, width, images.dim(3)});
}

template <typename Arithmetic>
absl::Status QuantizedResize(KernelContext& c, Attr<bool, "align_corners"> align_corners,
                             Attr<bool, "half_pixel_centers"> half_pixel_centers) {
  for (int i : {2, 3}) {
    SLUICE_INVALID_IF(c.input(i).rank() != 0, "QuantizedResizeBilinear node '", c.name(),
                      "': ", i == 2 ? "min" : "max", " must be a scalar, got shape ",
                      c.input(i).shape().ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(const NumberRange range, RangeInput(c, 2));
  SLUICE_RETURN_IF_ERROR(SetRange(c, range));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ResultShape(c));
  const Tensor& images = c.input(0);
  if (shape == images.shape()) {
    c.set_output(0, images);
    return absl::OkStatus();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor* const out, c.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return absl::OkStatus();
  const Scaling ys(images.dim(1), out->dim(1), align_corners, half_pixel_centers);
  const Scaling xs(images.dim(2), out->dim(2), align_corners, half_pixel_centers);
  c.ParallelFor(out->dim(0) * ys.out, 3.0 * static_cast<double>(xs.out * out->dim(3)),
                [&](int64_t begin, int64_t end) {
                  ResizeLines<Arithmetic>(images, ys, xs, begin, end, out);
                });
  return absl::OkStatus();
}
using Resize8Bits = FunctionKernel<QuantizedResize<FixedPoint<uint8_t, int32_t, 7>>>;
using Resize32Bits = FunctionKernel<QuantizedResize<FixedPoint<int32_t, int64_t, 30>>>;
KERNEL(QuantizedResizeBilinear, Resize8Bits, {"T", DT_QUINT8});
KERNEL(QuantizedResizeBilinear, Resize32Bits, {"T", DT_QINT32});
KERNEL(QuantizedResizeBilinear, FunctionKernel<QuantizedResize<FloatingPoint>>, {"T", DT_FLOAT});

}  // namespace
}  // namespace sluice
