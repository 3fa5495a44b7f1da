#include <algorithm>
#include <vector>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/conv/conv_geometry.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// Filters are [height, width, channels, m]; a tap is the channels * m numbers at one place of a
// filter, in the order of the output's channels.
struct Depthwise {
  ConvGeometry g;  // filter_channels = channels, out_channels = channels * m
  int64_t m = 1;

  int64_t in_image() const { return g.in_height * g.in_width * g.in_channels; }
  int64_t out_image() const { return g.out_height * g.out_width * g.out_channels; }
};

absl::StatusOr<Depthwise> DepthwiseOf(const ConvAttrs& attrs, const TensorShape& input,
                                      const TensorShape& filter) {
  if (input.rank() != 4) return InvalidArgument("input must be 4-dimensional", input.ToString());
  if (filter.rank() != 4) {
    return InvalidArgument("filter must be 4-dimensional: ", filter.ToString());
  }
  const int64_t channels = input.dim(attrs.layout.channel);
  if (filter.dim(2) != channels) {
    return InvalidArgument("input and filter must have the same depth: ", channels, " vs ",
                           filter.dim(2));
  }
  Depthwise d;
  d.m = filter.dim(3);
  ConvGeometry& g = d.g;
  g.batch = input.dim(attrs.layout.batch);
  g.in_height = input.dim(attrs.layout.height);
  g.in_width = input.dim(attrs.layout.width);
  g.in_channels = g.filter_channels = channels;
  g.filter_height = filter.dim(0);
  g.filter_width = filter.dim(1);
  g.out_channels = MultiplyWithoutOverflow(channels, d.m);
  if (g.out_channels < 0) return InvalidArgument("filter ", filter.ToString(), " is too large");
  SLUICE_ASSIGN_OR_RETURN(const Window height,
                          SlideWindow(g.in_height, g.filter_height, attrs.sliding.height));
  SLUICE_ASSIGN_OR_RETURN(const Window width,
                          SlideWindow(g.in_width, g.filter_width, attrs.sliding.width));
  g.out_height = height.outputs;
  g.out_width = width.outputs;
  g.pad_top = height.before;
  g.pad_left = width.before;
  g.stride_height = attrs.sliding.height.stride;
  g.stride_width = attrs.sliding.width.stride;
  g.dilation_height = attrs.sliding.height.dilation;
  g.dilation_width = attrs.sliding.width.dilation;
  return d;
}

absl::Status CheckGrad(const ConvAttrs& attrs, const Depthwise& d, const Tensor& grad) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape expected, ConvOutputShape(attrs, d.g));
  if (grad.shape() == expected) return absl::OkStatus();
  return InvalidArgument(attrs.op, ": out_backprop must have shape ", expected.ToString(), ", got ",
                         grad.shape().ToString());
}

absl::StatusOr<TensorShape> Sizes(const Tensor& t) {
  if (!t.shape().IsVector() || t.num_elements() != 4) {
    return InvalidArgument("sizes must be a vector of 4 integers, got shape ",
                           t.shape().ToString());
  }
  return TensorShape::Make(
      std::vector<int64_t>(t.flat<int32_t>().begin(), t.flat<int32_t>().end()));
}

// Calls f(output position, input position, tap) for every place where a filter meets an image, for
// the output rows [begin, end) of one image.
template <typename F>
void ForTaps(const ConvGeometry& g, int64_t begin, int64_t end, F f) {
  if (g.filter_width == 0) return;  // however high the filter
  for (int64_t y = begin; y < end; ++y) {
    for (int64_t x = 0; x < g.out_width; ++x) {
      for (int64_t ky = 0; ky < g.filter_height; ++ky) {
        const int64_t in_y = y * g.stride_height - g.pad_top + ky * g.dilation_height;
        if (in_y < 0 || in_y >= g.in_height) continue;
        for (int64_t kx = 0; kx < g.filter_width; ++kx) {
          const int64_t in_x = x * g.stride_width - g.pad_left + kx * g.dilation_width;
          if (in_x < 0 || in_x >= g.in_width) continue;
          f(y * g.out_width + x, in_y * g.in_width + in_x, ky * g.filter_width + kx);
        }
      }
    }
  }
}

// out[c * m + q] += in[c] * tap[c * m + q].
template <typename F>
SLUICE_TARGET_CLONES void AddProduct(const F* in, const F* tap, int64_t channels, int64_t m,
                                     F* out) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) out[c] += in[c] * tap[c];
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t q = 0; q < m; ++q) out[c * m + q] += in[c] * tap[c * m + q];
  }
}

// out[c] += the sum over q of a[c * m + q] * b[c * m + q].
template <typename F>
SLUICE_TARGET_CLONES void AddInner(const F* a, const F* b, int64_t channels, int64_t m, F* out) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) out[c] += a[c] * b[c];
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    F sum(0);
    for (int64_t q = 0; q < m; ++q) sum += a[c * m + q] * b[c * m + q];
    out[c] += sum;
  }
}

double LineCost(const Depthwise& d) {
  return 0.5 * static_cast<double>(d.g.out_width) * static_cast<double>(d.g.out_channels) *
         static_cast<double>(d.g.filter_height) * static_cast<double>(d.g.filter_width);
}

class DepthwiseKernel : public Kernel {
 public:
  explicit DepthwiseKernel(ConvAttrs attrs) : attrs_(std::move(attrs)) {}

 protected:
  template <typename K>
  static absl::StatusOr<std::unique_ptr<Kernel>> MakeOf(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(ConvAttrs attrs, ConvAttrs::Of(init));
    return std::unique_ptr<Kernel>(new K(std::move(attrs)));
  }
  const ConvAttrs attrs_;
};

template <typename T>
class DepthwiseForward : public DepthwiseKernel {
 public:
  using F = ImageElement<T>;
  using DepthwiseKernel::DepthwiseKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeOf<DepthwiseForward>(init);
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &in = context.input(0), &filter = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const Depthwise d, DepthwiseOf(attrs_, in.shape(), filter.shape()));
    const ConvGeometry& g = d.g;
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ConvOutputShape(attrs_, g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, w;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(w.Open(context, filter));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out, ChannelsOf(attrs_.layout)));
    context.ParallelFor(g.batch * g.out_height, LineCost(d), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t image = line / g.out_height, row = line % g.out_height;
        const F* from = x.data() + image * d.in_image();
        F* to = y.data() + image * d.out_image();
        std::fill_n(to + row * g.out_width * g.out_channels, g.out_width * g.out_channels, F(0));
        ForTaps(g, row, row + 1, [&](int64_t output, int64_t input, int64_t tap) {
          AddProduct(from + input * g.in_channels, w.data() + tap * g.out_channels, g.in_channels,
                     d.m, to + output * g.out_channels);
        });
      }
    });
    return y.Close(context);
  }
};
KERNELS(DepthwiseConv2dNative, "T", DepthwiseForward, FloatList);

template <typename T>
class DepthwiseByInput : public DepthwiseKernel {
 public:
  using F = ImageElement<T>;
  using DepthwiseKernel::DepthwiseKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeOf<DepthwiseByInput>(init);
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &filter = context.input(1), &grad = context.input(2);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, Sizes(context.input(0)));
    SLUICE_ASSIGN_OR_RETURN(const Depthwise d, DepthwiseOf(attrs_, shape, filter.shape()));
    SLUICE_RETURN_IF_ERROR(CheckGrad(attrs_, d, grad));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (filter.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    ReadImages<T> dy, w;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(context, grad, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(w.Open(context, filter));
    SLUICE_RETURN_IF_ERROR(dx.Open(context, out, ChannelsOf(attrs_.layout)));
    const ConvGeometry& g = d.g;
    context.ParallelFor(
        g.batch, LineCost(d) * static_cast<double>(g.out_height), [&](int64_t begin, int64_t end) {
          for (int64_t image = begin; image < end; ++image) {
            const F* from = dy.data() + image * d.out_image();
            F* to = dx.data() + image * d.in_image();
            std::fill_n(to, d.in_image(), F(0));
            ForTaps(g, 0, g.out_height, [&](int64_t output, int64_t input, int64_t tap) {
              AddInner(from + output * g.out_channels, w.data() + tap * g.out_channels,
                       g.in_channels, d.m, to + input * g.in_channels);
            });
          }
        });
    return dx.Close(context);
  }
};
KERNELS(DepthwiseConv2dNativeBackpropInput, "T", DepthwiseByInput, FloatList);

// Each block of images has sums of its own, which are added in order: the same bits on any number
// of threads.
template <typename T>
class DepthwiseByFilter : public DepthwiseKernel {
 public:
  using F = ImageElement<T>;
  using DepthwiseKernel::DepthwiseKernel;
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    return MakeOf<DepthwiseByFilter>(init);
  }

  absl::Status Compute(KernelContext& context) override {
    const Tensor &in = context.input(0), &grad = context.input(2);
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, Sizes(context.input(1)));
    SLUICE_ASSIGN_OR_RETURN(const Depthwise d, DepthwiseOf(attrs_, in.shape(), shape));
    SLUICE_RETURN_IF_ERROR(CheckGrad(attrs_, d, grad));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    if (in.num_elements() == 0 || grad.num_elements() == 0) return FillWithZeros(out);
    ReadImages<T> x, dy;
    WrittenImages<T> dw;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(dy.Open(context, grad, ChannelsOf(attrs_.layout)));
    SLUICE_RETURN_IF_ERROR(dw.Open(context, out));
    SLUICE_RETURN_IF_ERROR(Run(context, d, x.data(), dy.data(), dw.data()));
    return dw.Close(context);
  }

 private:
  static absl::Status Run(KernelContext& context, const Depthwise& d, const F* x, const F* dy,
                          F* dw) {
    const ConvGeometry& g = d.g;
    const int64_t size = g.filter_height * g.filter_width * g.out_channels;
    const int64_t blocks = std::clamp<int64_t>(g.batch, 1, 16);
    SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(kDataTypeOf<F>, {blocks, size}));
    F* sums = partial.data<F>();
    std::fill_n(sums, blocks * size, F(0));
    const double cost = LineCost(d) * static_cast<double>(g.out_height * g.batch / blocks);
    context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        for (int64_t i = b * g.batch / blocks; i < (b + 1) * g.batch / blocks; ++i) {
          ForTaps(g, 0, g.out_height, [&](int64_t output, int64_t input, int64_t tap) {
            AddProduct(x + i * d.in_image() + input * g.in_channels,
                       dy + i * d.out_image() + output * g.out_channels, g.in_channels, d.m,
                       sums + b * size + tap * g.out_channels);
          });
        }
      }
    });
    std::copy_n(sums, size, dw);
    for (int64_t b = 1; b < blocks; ++b) {
      for (int64_t i = 0; i < size; ++i) dw[i] += sums[b * size + i];
    }
    return absl::OkStatus();
  }
};
KERNELS(DepthwiseConv2dNativeBackpropFilter, "T", DepthwiseByFilter, FloatList);

}  // namespace
}  // namespace sluice
