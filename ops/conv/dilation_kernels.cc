#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/conv/window.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

struct DilationGeometry {
  int64_t batch, in_height, in_width, channels, height, width;  // filter's height and width
  int64_t stride_y, stride_x, rate_y, rate_x;
  Window y, x;
};

// Inputs: images, filter, and for gradients that of the output.
template <typename T>
class DilationKernel : public Kernel {
 public:
  explicit DilationKernel(KernelInit& init)
      : padding_(PaddingOf(init.attr<std::string>("padding"))),
        strides_(init.attr<std::vector<int64_t>>("strides")),
        rates_(init.attr<std::vector<int64_t>>("rates")),
        into_filter_(init.node().op() == "Dilation2DBackpropFilter") {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const DilationGeometry g, Geometry(c));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape result,
                            TensorShape::Make({g.batch, g.y.outputs, g.x.outputs, g.channels}));
    const bool is_gradient = c.num_inputs() == 3;
    if (is_gradient && !(c.input(2).shape() == result)) {
      return InvalidArgument("out_backprop has incompatible size: ", c.input(2).shape().ToString(),
                             ", expected ", result.ToString());
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(
        c.AllocateOutput(0, is_gradient ? c.input(into_filter_ ? 1 : 0).shape() : result, &out));
    if (is_gradient) std::fill_n(out->data<T>(), out->num_elements(), T(0));
    if (out->num_elements() == 0) return absl::OkStatus();  // however many places there were
    const T* grad = is_gradient ? c.input(2).data<T>() : nullptr;
    T* to = out->data<T>();
    for (int64_t i = 0; i < result.num_elements(); ++i) {
      int64_t at, filter_at;
      const T greatest =
          Greatest(g, c.input(0).data<T>(), c.input(1).data<T>(), i, &at, &filter_at);
      if (!is_gradient) {
        to[i] = greatest;
      } else if (into_filter_) {
        to[filter_at] = WrappingAdd(to[filter_at], grad[i]);
      } else if (at >= 0) {
        to[at] = WrappingAdd(to[at], grad[i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<DilationGeometry> Geometry(KernelContext& c) const {
    const Tensor &in = c.input(0), &filter = c.input(1);
    if (in.rank() != 4) {
      return InvalidArgument("input must be 4-dimensional, got ", in.shape().ToString());
    }
    if (filter.rank() != 3) {
      return InvalidArgument("filter must be 3-dimensional: ", filter.shape().ToString());
    }
    if (in.dim(3) != filter.dim(2)) {
      return InvalidArgument("input and filter must have the same depth: ", in.dim(3), " vs ",
                             filter.dim(2));
    }
    DilationGeometry g{.batch = in.dim(0),
                       .in_height = in.dim(1),
                       .in_width = in.dim(2),
                       .channels = in.dim(3),
                       .height = filter.dim(0),
                       .width = filter.dim(1),
                       .stride_y = strides_[1],
                       .stride_x = strides_[2],
                       .rate_y = rates_[1],
                       .rate_x = rates_[2],
                       .y = {},
                       .x = {}};
    SLUICE_ASSIGN_OR_RETURN(
        g.y, SlideWindow(g.in_height, g.height,
                         {.stride = g.stride_y, .dilation = g.rate_y, .padding = padding_}));
    SLUICE_ASSIGN_OR_RETURN(
        g.x, SlideWindow(g.in_width, g.width,
                         {.stride = g.stride_x, .dilation = g.rate_x, .padding = padding_}));
    if (g.width == 0) g.height = 0;  // however many lines of nothing
    return g;
  }

  // The first greatest sum under window i, and where it is (image -1: nowhere).
  static T Greatest(const DilationGeometry& g, const T* image, const T* filter, int64_t i,
                    int64_t* at, int64_t* filter_at) {
    const int64_t channel = i % g.channels, x = i / g.channels % g.x.outputs;
    const int64_t y = i / g.channels / g.x.outputs % g.y.outputs;
    const int64_t b = i / g.channels / g.x.outputs / g.y.outputs;
    T greatest = std::numeric_limits<T>::lowest();
    *at = -1;
    *filter_at = channel;
    for (int64_t ky = 0; ky < g.height; ++ky) {
      const int64_t row = y * g.stride_y - g.y.before + ky * g.rate_y;
      if (row < 0 || row >= g.in_height) continue;
      for (int64_t kx = 0; kx < g.width; ++kx) {
        const int64_t column = x * g.stride_x - g.x.before + kx * g.rate_x;
        if (column < 0 || column >= g.in_width) continue;
        const int64_t p = ((b * g.in_height + row) * g.in_width + column) * g.channels + channel;
        const int64_t q = (ky * g.width + kx) * g.channels + channel;
        const T sum = WrappingAdd(image[p], filter[q]);
        if (sum > greatest) {
          greatest = sum;
          *at = p;
          *filter_at = q;
        }
      }
    }
    return greatest;
  }

  const Padding padding_;
  const std::vector<int64_t> strides_, rates_;
  const bool into_filter_;
};
KERNELS(Dilation2D, "T", DilationKernel, RealList);
KERNELS(Dilation2DBackpropFilter, "T", DilationKernel, RealList);
KERNELS(Dilation2DBackpropInput, "T", DilationKernel, RealList);

}  // namespace
}  // namespace sluice
