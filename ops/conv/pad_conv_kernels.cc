#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/conv/conv_compute.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// Images before the convolution: resized, then padded by mirrors of themselves. Where an element of
// the padded image comes from.
struct Padded {
  std::array<int64_t, 4> before{}, sizes{};  // of the padded images
  TensorShape shape;                         // of what is padded
  int64_t offset = 0;                        // SYMMETRIC repeats the edge, REFLECT does not

  int64_t Source(int d, int64_t i) const {
    const int64_t size = shape.dim(d), last = size - 1;
    int64_t at = i - before[d];
    if (at < 0) at = -at - 1 + offset;
    if (at > last) at = 2 * last + 1 - at - offset;
    return at;
  }
};

template <typename T>
class PadConvKernel : public Kernel {
 public:
  explicit PadConvKernel(KernelInit& init)
      : op_(init.node().op()),
        resizes_(op_ == "FusedResizeAndPadConv2D"),
        align_corners_(init.AttrOr<bool>("resize_align_corners", false)),
        is_reflect_(init.attr<std::string>("mode") == "REFLECT"),
        strides_(init.attr<std::vector<int64_t>>("strides")),
        padding_(init.attr<std::string>("padding")) {}

  absl::Status Compute(KernelContext& c) override {
    using F = ImageElement<T>;
    const Tensor& in = c.input(0);
    const Tensor &paddings = c.input(resizes_ ? 2 : 1), &filter = c.input(resizes_ ? 3 : 2);
    if (in.rank() != 4) {
      return InvalidArgument("input must be 4-dimensional, got shape ", in.shape().ToString());
    }
    if (strides_.size() != 4) {
      return InvalidArgument("Sliding window strides field must specify 4 dimensions, got ",
                             strides_.size());
    }
    if (strides_[0] != 1 || strides_[3] != 1) {
      return InvalidArgument(
          "Current implementation does not yet support strides in the batch and depth dimensions.");
    }
    ReadImages<T> x, w;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in));
    SLUICE_RETURN_IF_ERROR(w.Open(c, filter));
    const F* images = x.data();
    TensorShape resized = in.shape();
    Tensor large;
    if (resizes_) {
      SLUICE_ASSIGN_OR_RETURN(resized, SizesOf(c.input(1), in.shape()));
      SLUICE_ASSIGN_OR_RETURN(large, c.AllocateTemp(kDataTypeOf<F>, resized));
      Resize(in.shape(), resized, images, large.template data<F>());
      images = large.template data<F>();
    }
    SLUICE_ASSIGN_OR_RETURN(const Padded padded, PaddedBy(paddings, resized));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(padded.sizes));
    ConvAttrs attrs;
    attrs.op = op_;
    attrs.data_format = "NHWC";
    attrs.layout = ImageLayout::Of("NHWC");
    SLUICE_ASSIGN_OR_RETURN(attrs.sliding,
                            ImageSlidingOf(op_, "NHWC", strides_, {1, 1, 1, 1}, padding_, {}));
    if (filter.rank() == 4 && filter.dim(2) != shape.dim(3)) {
      return InvalidArgument("input and filter must have the same depth: ", shape.dim(3), " vs ",
                             filter.dim(2));
    }
    SLUICE_ASSIGN_OR_RETURN(const ConvGeometry g, ConvGeometryOf(attrs, shape, filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape result, ConvOutputShape(attrs, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, result, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(Tensor borders, c.AllocateTemp(kDataTypeOf<F>, shape));
    Mirror(padded, images, borders.template data<F>());
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(y.Open(c, out));
    SLUICE_RETURN_IF_ERROR(
        ConvForward(c, g, static_cast<const F*>(borders.template data<F>()), w.data(), y.data()));
    return y.Close(c);
  }

 private:
  static absl::StatusOr<TensorShape> SizesOf(const Tensor& size, const TensorShape& in) {
    if (size.rank() != 1 || size.num_elements() != 2) {
      return InvalidArgument("size must be 1-dimensional with two elements, got shape ",
                             size.shape().ToString());
    }
    const int32_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
    if (height <= 0 || width <= 0) {
      return InvalidArgument("output dimensions must be positive, got ", height, " and ", width);
    }
    if (in.dim(1) <= 0 || in.dim(2) <= 0 || in.dim(3) <= 0) {
      return InvalidArgument("input image must be of non-zero size, got shape ", in.ToString());
    }
    return TensorShape::Make({in.dim(0), height, width, in.dim(3)});
  }

  absl::StatusOr<Padded> PaddedBy(const Tensor& paddings, const TensorShape& images) const {
    if (paddings.rank() != 2 || paddings.dim(0) != 4 || paddings.dim(1) != 2) {
      return InvalidArgument("paddings must be a matrix with 2 columns and 4 rows, got shape ",
                             paddings.shape().ToString());
    }
    Padded p;
    p.shape = images;
    p.offset = is_reflect_ ? 1 : 0;
    const int32_t* sizes = paddings.data<int32_t>();
    for (int d = 0; d < 4; ++d) {
      const int64_t before = sizes[2 * d], after = sizes[2 * d + 1];
      if (before < 0 || after < 0) {
        return InvalidArgument("Paddings must be non-negative: ", before, " ", after);
      }
      if (std::max(before, after) > images.dim(d) - p.offset) {
        return InvalidArgument("paddings must not be greater than the dimension size",
                               is_reflect_ ? " less one" : "", ": ", before, ", ", after, " for ",
                               images.dim(d));
      }
      p.before[d] = before;
      p.sizes[d] = SaturatedSum(images.dim(d), before + after);
    }
    return p;
  }

  template <typename F>
  static void Mirror(const Padded& p, const F* from, F* to) {
    for (int64_t b = 0; b < p.sizes[0]; ++b) {
      for (int64_t y = 0; y < p.sizes[1]; ++y) {
        for (int64_t x = 0; x < p.sizes[2]; ++x) {
          const F* pixel =
              from + ((p.Source(0, b) * p.shape.dim(1) + p.Source(1, y)) * p.shape.dim(2) +
                      p.Source(2, x)) *
                         p.shape.dim(3);
          for (int64_t k = 0; k < p.sizes[3]; ++k) *to++ = pixel[p.Source(3, k)];
        }
      }
    }
  }

  // By linear interpolation, as ResizeBilinear does it.
  template <typename F>
  void Resize(const TensorShape& in, const TensorShape& out, const F* from, F* to) const {
    const auto scale = [&](int d) {
      return align_corners_ && out.dim(d) > 1
                 ? static_cast<float>(in.dim(d) - 1) / static_cast<float>(out.dim(d) - 1)
                 : static_cast<float>(in.dim(d)) / static_cast<float>(out.dim(d));
    };
    const float by_y = scale(1), by_x = scale(2);
    const int64_t n = in.dim(3), width = in.dim(2);
    for (int64_t b = 0; b < out.dim(0); ++b) {
      const F* image = from + b * in.dim(1) * width * n;
      for (int64_t y = 0; y < out.dim(1); ++y) {
        const float at_y = static_cast<float>(y) * by_y;
        // Among very many lines, rounding may lead behind the last one.
        const int64_t top = std::min(static_cast<int64_t>(at_y), in.dim(1) - 1);
        const int64_t bottom = std::min(top + 1, in.dim(1) - 1);
        const F part_y = static_cast<F>(at_y - static_cast<float>(top));
        for (int64_t x = 0; x < out.dim(2); ++x) {
          const float at_x = static_cast<float>(x) * by_x;
          const int64_t left = std::min(static_cast<int64_t>(at_x), width - 1);
          const int64_t right = std::min(left + 1, width - 1);
          const F part_x = static_cast<F>(at_x - static_cast<float>(left));
          for (int64_t k = 0; k < n; ++k) {
            const auto pixel = [&](int64_t i, int64_t j) { return image[(i * width + j) * n + k]; };
            const F above = pixel(top, left) + (pixel(top, right) - pixel(top, left)) * part_x;
            const F below =
                pixel(bottom, left) + (pixel(bottom, right) - pixel(bottom, left)) * part_x;
            *to++ = above + (below - above) * part_y;
          }
        }
      }
    }
  }

  const std::string op_;
  const bool resizes_, align_corners_, is_reflect_;
  const std::vector<int64_t> strides_;
  const std::string padding_;
};
KERNELS(FusedPadConv2D, "T", PadConvKernel, FloatList);
using ResizedTypes = TypeList<half, float, double>;
KERNELS(FusedResizeAndPadConv2D, "T", PadConvKernel, ResizedTypes);

}  // namespace
}  // namespace sluice
