// Kernels of grayscale dilation of images, and of its gradients.
#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/window.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

// The inputs are images and a filter. Gradients have a third one: the gradient of the output.
template <typename T>
class DilationKernel : public Kernel {
 public:
  explicit DilationKernel(const KernelInit& init)
      : attrs_(WindowAttrs::Of(init.node())),
        into_filter_(init.node().op() == "Dilation2DBackpropFilter") {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const WindowGeometry g, Geometry(c.input(0), c.input(1)));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape dilated, attrs_->OutputShape(g));
    const bool is_gradient = c.num_inputs() == 3;
    SLUICE_INVALID_IF(is_gradient && c.input(2).shape() != dilated,
                      "out_backprop has incompatible size: ", c.input(2).shape().ToString(),
                      ", expected ", dilated.ToString());
    SLUICE_ASSIGN_OR_RETURN(
        Tensor * out,
        c.AllocateOutput(0, is_gradient ? c.input(into_filter_ ? 1 : 0).shape() : dilated));
    T* to = out->data<T>();
    if (is_gradient) std::fill_n(to, out->num_elements(), T(0));
    if (out->num_elements() == 0) return absl::OkStatus();  // avoids loops over huge sizes
    const T* grad = is_gradient ? c.input(2).data<T>() : nullptr;
    for (int64_t i = 0; i < dilated.num_elements(); ++i) {
      const Sum sum = Greatest(g, c.input(0).data<T>(), c.input(1).data<T>(), i);
      const int64_t at = into_filter_ ? sum.filter_at : sum.at;
      if (!is_gradient) {
        to[i] = sum.value;
      } else if (at >= 0) {
        to[at] = WrappingAdd(to[at], grad[i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  // The sum of an image element and a filter element, and the positions of both. `at` is -1 if the
  // window contains no element of the image.
  struct Sum {
    T value = std::numeric_limits<T>::lowest();
    int64_t at = -1, filter_at = 0;
  };

  static absl::Status CheckSpatial(const char* what, const std::vector<int64_t>& sizes) {
    if (sizes.front() == 1 && sizes.back() == 1) return absl::OkStatus();
    return absl::UnimplementedError(StrCat(what, " is only supported across spatial dimensions."));
  }

  absl::StatusOr<WindowGeometry> Geometry(const Tensor& in, const Tensor& filter) const {
    SLUICE_RETURN_IF_ERROR(attrs_.status());
    SLUICE_RETURN_IF_ERROR(CheckSpatial("Stride", attrs_->strides));
    SLUICE_RETURN_IF_ERROR(CheckSpatial("Rate", attrs_->dilations));
    SLUICE_RETURN_IF_ERROR(ExpectRank(in, 4, "input must be 4-dimensional, got "));
    SLUICE_RETURN_IF_ERROR(ExpectRank(filter, 3, "filter must be 3-dimensional: "));
    SLUICE_INVALID_IF(in.dim(3) != filter.dim(2),
                      "input and filter must have the same depth: ", in.dim(3), " vs ",
                      filter.dim(2));
    SLUICE_ASSIGN_OR_RETURN(WindowGeometry g, attrs_->Slide(in.shape(), filter.shape().dims()));
    g.out_channels = g.in_channels;
    if (g.window.width == 0) g.window.height = 0;  // avoids a long loop over lines without elements
    return g;
  }

  // Returns the first of the greatest sums under the window of output `i`.
  static Sum Greatest(const WindowGeometry& g, const T* images, const T* filter, int64_t i) {
    const int64_t n = g.in_channels, channel = i % n, x = i / n % g.out.width;
    const int64_t line = i / n / g.out.width, b = line / g.out.height;
    const int64_t top = g.First(1, line % g.out.height), left = g.First(2, x);
    Sum best{.filter_at = channel};
    for (int64_t ky = 0; ky < g.window.height; ++ky) {
      const int64_t row = top + ky * g.dilation.height;
      if (row < 0 || row >= g.in.height) continue;
      for (int64_t kx = 0; kx < g.window.width; ++kx) {
        const int64_t column = left + kx * g.dilation.width;
        if (column < 0 || column >= g.in.width) continue;
        const int64_t at = ((b * g.in.height + row) * g.in.width + column) * n + channel;
        const int64_t filter_at = (ky * g.window.width + kx) * n + channel;
        const T sum = WrappingAdd(images[at], filter[filter_at]);
        if (sum > best.value) best = {sum, at, filter_at};
      }
    }
    return best;
  }

  const absl::StatusOr<WindowAttrs> attrs_;
  const bool into_filter_;
};
KERNELS(Dilation2D, "T", DilationKernel, RealList);
KERNELS(Dilation2DBackpropFilter, "T", DilationKernel, RealList);
KERNELS(Dilation2DBackpropInput, "T", DilationKernel, RealList);

}  // namespace
}  // namespace sluice
