#include <algorithm>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/loops/broadcast.h"
#include "ops/loops/wrapping.h"

namespace sluice {
namespace {

// The sizes of a tensor that is seen as [outer, channels, inner].
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
};

absl::StatusOr<Channels> ChannelsOf(const Tensor& value, bool nchw) {
  SLUICE_INVALID_IF(value.rank() < 2,
                    "Input tensor must be at least 2D: ", value.shape().ToString());
  const int channel = nchw ? 1 : value.rank() - 1;
  Channels c;
  for (int i = 0; i < value.rank(); ++i) {
    int64_t& part = i < channel ? c.outer : i == channel ? c.channels : c.inner;
    part = SaturatedProduct(part, value.dim(i));
  }
  return c;
}

bool IsNchw(KernelInit& init) { return init.AttrOr<std::string>("data_format", "NHWC") == "NCHW"; }

template <typename T>
SLUICE_TARGET_CLONES void AddRows(const T* x, const T* bias, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] = WrappingAdd(x[i], bias[i]);
  }
}

template <typename T>
SLUICE_TARGET_CLONES void AddScalar(const T* x, T bias, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = WrappingAdd(x[i], bias);
}

struct BiasFn {
  static constexpr double kCost = 0.1;  // nanoseconds, if another node has loaded the same elements
  template <typename T>
  SLUICE_INLINE_IN_CLONES T operator()(const T& x, const T& bias) const {
    return WrappingAdd(x, bias);
  }
};

template <typename T>
ElementwiseLoops BiasLoops() {
  ElementwiseLoops loops = elementwise::LoopsOf<BiasFn, T>();
  loops.x_alone = loops.y_alone = nullptr;
  loops.y_is_row = true;
  return loops;
}

template <typename T>
class BiasAddKernel : public ElementwiseLoopKernel {
 public:
  explicit BiasAddKernel(KernelInit& init)
      : ElementwiseLoopKernel(BiasLoops<T>()), nchw_(IsNchw(init)) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& value = context.input(0);
    const Tensor& bias = context.input(1);
    SLUICE_ASSIGN_OR_RETURN(const Channels c, ChannelsOf(value, nchw_));
    SLUICE_RETURN_IF_ERROR(ExpectRank(bias, 1, "Biases must be 1D: "));
    SLUICE_INVALID_IF(bias.dim(0) != c.channels, "Must provide as many biases as the last ",
                      "dimension of the input tensor",
                      nchw_ ? " (before height and width): " : ": ", bias.shape().ToString(),
                      " vs. ", value.shape().ToString());
    return Add(context, bias.data<T>(), c);
  }
  bool IsLoopsAlone() const override { return !nchw_; }

 private:
  absl::Status Add(KernelContext& context, const T* bias, const Channels& c) {
    const TensorShape shape = context.input(0).shape();
    const T* x = context.input(0).data<T>();  // valid even if the output takes over the buffer
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.ForwardOrAllocate({0}, 0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();  // avoids loops over huge sizes
    T* y = out->data<T>();
    if (c.inner == 1) {
      context.ParallelFor(
          c.outer, 0.1 * static_cast<double>(c.channels), [&](int64_t begin, int64_t end) {
            AddRows(x + begin * c.channels, bias, y + begin * c.channels, end - begin, c.channels);
          });
    } else {
      context.ParallelFor(c.outer * c.channels, 0.1 * static_cast<double>(c.inner),
                          [&](int64_t begin, int64_t end) {
                            for (int64_t i = begin; i < end; ++i) {
                              AddScalar(x + i * c.inner, bias[i % c.channels], y + i * c.inner,
                                        c.inner);
                            }
                          });
    }
    return absl::OkStatus();
  }

  const bool nchw_;
};
KERNELS(BiasAdd, "T", BiasAddKernel, NumberList);
KERNELS(BiasAddV1, "T", BiasAddKernel, NumberList);

// The type of sums: float for 16-bit floating types, T for others.
template <typename T>
using Sum = std::conditional_t<kIsFloat16<T>, float, T>;

template <typename T>
SLUICE_TARGET_CLONES void SumRows(const T* x, Sum<T>* sums, int64_t rows, int64_t n) {
  std::fill_n(sums, n, Sum<T>(0));
  for (int64_t r = 0; r < rows; ++r, x += n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) sums[i] = WrappingAdd(sums[i], static_cast<Sum<T>>(x[i]));
  }
}

template <typename T>
SLUICE_TARGET_CLONES Sum<T> SumRun(const T* x, int64_t n) {
  constexpr int kLanes = 16;
  Sum<T> lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      lanes[j] = WrappingAdd(lanes[j], static_cast<Sum<T>>(x[i + j]));
    }
  }
  for (; i < n; ++i) lanes[0] = WrappingAdd(lanes[0], static_cast<Sum<T>>(x[i]));
  Sum<T> sum = lanes[0];
  for (int j = 1; j < kLanes; ++j) sum = WrappingAdd(sum, lanes[j]);
  return sum;
}

// Sums all rows. Sums blocks of rows separately and adds the blocks in order. The size of a block
// depends on the shape alone, so that the bits do not depend on the number of threads.
template <typename T>
absl::Status SumLast(KernelContext& context, const T* x, const Channels& c, T* out) {
  const int64_t rows_per_block = std::max<int64_t>(128, (c.outer + 63) / 64);
  const int64_t blocks = (c.outer + rows_per_block - 1) / rows_per_block;
  SLUICE_ASSIGN_OR_RETURN(Tensor partial,
                          context.AllocateTemp(kDataTypeOf<Sum<T>>, {blocks, c.channels}));
  Sum<T>* sums = partial.data<Sum<T>>();
  const double cost = 0.1 * static_cast<double>(rows_per_block * c.channels);
  context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * rows_per_block;
      SumRows(x + first * c.channels, sums + b * c.channels,
              std::min(rows_per_block, c.outer - first), c.channels);
    }
  });
  for (int64_t b = 1; b < blocks; ++b) {
    for (int64_t i = 0; i < c.channels; ++i) {
      sums[i] = WrappingAdd(sums[i], sums[b * c.channels + i]);
    }
  }
  for (int64_t i = 0; i < c.channels; ++i) out[i] = T(sums[i]);
  return absl::OkStatus();
}

template <typename T>
void SumMiddle(KernelContext& context, const T* x, const Channels& c, T* out) {
  const double cost = 0.1 * static_cast<double>(c.outer * c.inner);
  context.ParallelFor(c.channels, cost, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      Sum<T> sum(0);
      for (int64_t o = 0; o < c.outer; ++o) {
        sum = WrappingAdd(sum, SumRun(x + (o * c.channels + channel) * c.inner, c.inner));
      }
      out[channel] = T(sum);
    }
  });
}

template <typename T>
absl::Status BiasAddGrad(KernelContext& context, const Prepared<IsNchw>& nchw) {
  const Tensor& grad = context.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Channels c, ChannelsOf(grad, *nchw));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, {c.channels}));
  if (grad.num_elements() == 0) {
    std::fill_n(out->data<T>(), c.channels, T(0));
    return absl::OkStatus();
  }
  if (c.inner == 1) return SumLast(context, grad.data<T>(), c, out->data<T>());
  SumMiddle(context, grad.data<T>(), c, out->data<T>());
  return absl::OkStatus();
}
FUNCTION_KERNELS(BiasAddGrad, "T", BiasAddGrad, NumberList);

}  // namespace
}  // namespace sluice
