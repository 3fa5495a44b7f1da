// Kernels of convolutions of images that are mirrored at their edges, and that may be resized
// before.
#include <algorithm>
#include <array>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/conv/conv_geometry.h"
#include "ops/conv/convolve.h"
#include "ops/image/scaling.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// Maps the elements of padded images to elements of the images.
struct Mirrors {
  TensorShape images;
  std::array<int64_t, 4> before{}, sizes{};  // of the padded images
  int64_t edge = 0;                          // 1 for REFLECT, which does not repeat the edge

  // Returns the index in the images of element `i` of the padded images, along dimension `d`.
  int64_t Source(int d, int64_t i) const {
    const int64_t last = images.dim(d) - 1;
    int64_t at = i - before[d];
    if (at < 0) at = -at - 1 + edge;
    if (at > last) at = 2 * last + 1 - at - edge;
    return at;
  }

  template <typename F>
  void Copy(const F* from, F* to) const {
    for (int64_t b = 0; b < sizes[0]; ++b) {
      for (int64_t y = 0; y < sizes[1]; ++y) {
        const int64_t line = Source(0, b) * images.dim(1) + Source(1, y);
        for (int64_t x = 0; x < sizes[2]; ++x) {
          const F* pixel = from + (line * images.dim(2) + Source(2, x)) * images.dim(3);
          for (int64_t k = 0; k < sizes[3]; ++k) *to++ = pixel[Source(3, k)];
        }
      }
    }
  }
};

template <typename T>
class PadConvKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit PadConvKernel(const KernelInit& init)
      : attrs_(WindowAttrs::Of(init.node())),
        resizes_(init.node().op() == "FusedResizeAndPadConv2D"),
        align_corners_(init.AttrOr<bool>("resize_align_corners", false)),
        is_reflect_(init.attr<std::string>("mode") == "REFLECT") {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    SLUICE_RETURN_IF_ERROR(attrs_->CheckOnlySpatial());
    const Tensor& in = c.input(0);
    const Tensor &paddings = c.input(resizes_ ? 2 : 1), &filter = c.input(resizes_ ? 3 : 2);
    SLUICE_RETURN_IF_ERROR(ExpectRank(in, 4, "input must be 4-dimensional, got shape "));
    TensorShape resized = in.shape();
    if (resizes_) {
      SLUICE_ASSIGN_OR_RETURN(resized, ResizedShape(c.input(1), in.shape()));
    }
    SLUICE_ASSIGN_OR_RETURN(const Mirrors mirrors, MirrorsOf(paddings, resized));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape padded, TensorShape::Make(mirrors.sizes));
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g,
                            ConvGeometryOf(*attrs_, padded, filter.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, attrs_->OutputShape(g));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(Tensor large, c.AllocateTemp(kDataTypeOf<F>, resized));
    SLUICE_ASSIGN_OR_RETURN(Tensor borders, c.AllocateTemp(kDataTypeOf<F>, padded));
    return WithImages<T>(c, {{in}, {filter}}, out, Channels::kLast,
                         [&](const F* x, const F* w, F* y) {
                           if (resizes_) {
                             Resize(in.shape(), resized, x, large.data<F>());
                             x = large.data<F>();
                           }
                           mirrors.Copy(x, borders.data<F>());
                           return Convolve<F>(c, g, borders.data<F>(), w, y);
                         });
  }

 private:
  static absl::StatusOr<TensorShape> ResizedShape(const Tensor& size, const TensorShape& in) {
    SLUICE_INVALID_IF(size.rank() != 1 || size.num_elements() != 2,
                      "size must be 1-dimensional with two elements, got shape ",
                      size.shape().ToString());
    const int32_t height = size.data<int32_t>()[0], width = size.data<int32_t>()[1];
    SLUICE_INVALID_IF(height <= 0 || width <= 0, "output dimensions must be positive, got ", height,
                      " and ", width);
    SLUICE_INVALID_IF(in.dim(1) <= 0 || in.dim(2) <= 0 || in.dim(3) <= 0,
                      "input image must be of non-zero size, got shape ", in.ToString());
    return TensorShape::Make({in.dim(0), height, width, in.dim(3)});
  }

  absl::StatusOr<Mirrors> MirrorsOf(const Tensor& paddings, const TensorShape& images) const {
    SLUICE_INVALID_IF(paddings.rank() != 2 || paddings.dim(0) != 4 || paddings.dim(1) != 2,
                      "paddings must be a matrix with 2 columns and 4 rows, got shape ",
                      paddings.shape().ToString());
    Mirrors m{.images = images, .edge = is_reflect_ ? 1 : 0};
    const int32_t* sizes = paddings.data<int32_t>();
    for (int d = 0; d < 4; ++d) {
      const int64_t before = sizes[2 * d], after = sizes[2 * d + 1];
      SLUICE_INVALID_IF(before < 0 || after < 0, "Paddings must be non-negative: ", before, " ",
                        after);
      SLUICE_INVALID_IF(std::max(before, after) > images.dim(d) - m.edge, "paddings must be ",
                        is_reflect_ ? "less" : "no greater", " than the dimension size: ", before,
                        ", ", after, " for ", images.dim(d));
      m.before[d] = before;
      m.sizes[d] = SaturatedSum(images.dim(d), before + after);
    }
    return m;
  }

  // Resizes images by bilinear interpolation, as ResizeBilinear does.
  void Resize(const TensorShape& in, const TensorShape& out, const F* from, F* to) const {
    const Scaling ys(in.dim(1), out.dim(1), align_corners_, false);
    const Scaling xs(in.dim(2), out.dim(2), align_corners_, false);
    const int64_t n = in.dim(3), line = xs.in * n;
    for (int64_t b = 0; b < out.dim(0); ++b, from += ys.in * line) {
      for (int64_t y = 0; y < ys.out; ++y) {
        const auto of_y = ys.Neighbours(y);
        const F *top = from + of_y.lower * line, *bottom = from + of_y.upper * line;
        for (int64_t x = 0; x < xs.out; ++x) {
          const auto of_x = xs.Neighbours(x);
          const int64_t left = of_x.lower * n, right = of_x.upper * n;
          for (int64_t k = 0; k < n; ++k) {
            const auto between = [&](const F* row) {
              return row[left + k] + (row[right + k] - row[left + k]) * static_cast<F>(of_x.lerp);
            };
            const F above = between(top), below = between(bottom);
            *to++ = above + (below - above) * static_cast<F>(of_y.lerp);
          }
        }
      }
    }
  }

  const absl::StatusOr<WindowAttrs> attrs_;
  const bool resizes_, align_corners_, is_reflect_;
};
KERNELS(FusedPadConv2D, "T", PadConvKernel, FloatList);
using ResizedTypes = TypeList<half, float, double>;
KERNELS(FusedResizeAndPadConv2D, "T", PadConvKernel, ResizedTypes);

}  // namespace
}  // namespace sluice
