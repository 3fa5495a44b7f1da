#include <algorithm>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/conv/volume_geometry.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

using Floats = TypeList<bfloat16, float>;

class VolumePoolKernel : public Kernel {
 public:
  explicit VolumePoolKernel(KernelInit& init)
      : op_(init.node().op()),
        layout_(VolumeLayout::Of(init.attr<std::string>("data_format"))),
        ksize_(init.attr<std::vector<int64_t>>("ksize")),
        sliding_(VolumeSlidingOf(op_, init.attr<std::string>("data_format"),
                                 init.attr<std::vector<int64_t>>("strides"), {1, 1, 1, 1, 1},
                                 init.attr<std::string>("padding"))) {}

 protected:
  absl::StatusOr<VolumeGeometry> Geometry(const TensorShape& input) const {
    SLUICE_RETURN_IF_ERROR(sliding_.status());
    return PoolOf(op_, layout_, *sliding_, ksize_, input);
  }
  absl::StatusOr<TensorShape> Pooled(const VolumeGeometry& g) const {
    return OutputShape(layout_, g);
  }
  Channels channels() const { return layout_.channel == 1 ? Channels::kFirst : Channels::kLast; }

  absl::Status CheckShape(const char* what, const Tensor& t, const TensorShape& expected) const {
    if (t.shape() == expected) return absl::OkStatus();
    return InvalidArgument("Expected ", what, " shape to be ", expected.ToString(), ", but got ",
                           t.shape().ToString());
  }

  // Nanoseconds of one output position.
  static double Cost(const VolumeGeometry& g) {
    double elements = static_cast<double>(g.in_channels);
    // A window may be larger than any tensor.
    for (int64_t size : g.window) elements *= static_cast<double>(size);
    return 0.4 * elements;
  }

 private:
  const std::string op_;
  const VolumeLayout layout_;
  const std::vector<int64_t> ksize_;
  const absl::StatusOr<VolumeSliding> sliding_;
};

// Calls f(channels of the position in the pooled volume, positions under its window).
template <typename Function>
void ForWindow(const VolumeGeometry& g, int64_t position, const Function& f) {
  int64_t rest = position;
  VolumeGeometry::Range ranges[3];
  for (int d = 2; d >= 0; --d) {
    ranges[d] = g.Along(d, rest % g.out[d]);
    rest /= g.out[d];
  }
  for (int64_t z = ranges[0].first; z < ranges[0].last; ++z) {
    for (int64_t y = ranges[1].first; y < ranges[1].last; ++y) {
      for (int64_t x = ranges[2].first; x < ranges[2].last; ++x) {
        f(((rest * g.in[0] + z) * g.in[1] + y) * g.in[2] + x);
      }
    }
  }
}

int64_t WindowSize(const VolumeGeometry& g, int64_t position) {
  int64_t size = 1;
  for (int d = 2; d >= 0; --d) {
    size *= g.Along(d, position % g.out[d]).size();
    position /= g.out[d];
  }
  return size;
}

template <typename T, bool kMax>
class ForwardKernel : public VolumePoolKernel {
 public:
  using VolumePoolKernel::VolumePoolKernel;

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, Geometry(in.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, Pooled(g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, pooled, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, channels()));
    SLUICE_RETURN_IF_ERROR(y.Open(c, out, channels()));
    const int64_t n = g.in_channels;
    c.ParallelFor(g.positions(), Cost(g), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float* to = y.data() + i * n;
        std::fill_n(to, n, kMax ? -std::numeric_limits<float>::infinity() : 0.0f);
        ForWindow(g, i, [&](int64_t p) {
          const float* from = x.data() + p * n;
          for (int64_t k = 0; k < n; ++k) to[k] = kMax ? std::max(to[k], from[k]) : to[k] + from[k];
        });
        if (kMax) continue;
        const auto size = static_cast<float>(WindowSize(g, i));
        for (int64_t k = 0; k < n; ++k) to[k] /= size;
      }
    });
    return y.Close(c);
  }
};
template <typename T>
using MaxPool3DKernel = ForwardKernel<T, true>;
template <typename T>
using AvgPool3DKernel = ForwardKernel<T, false>;
KERNELS(MaxPool3D, "T", MaxPool3DKernel, Floats);
KERNELS(AvgPool3D, "T", AvgPool3DKernel, Floats);

template <typename T>
class AvgPool3DGradKernel : public VolumePoolKernel {
 public:
  using VolumePoolKernel::VolumePoolKernel;

  absl::Status Compute(KernelContext& c) override {
    const Tensor &sizes = c.input(0), &grad = c.input(1);
    if (!sizes.shape().IsVector() || sizes.num_elements() != 5) {
      return InvalidArgument("orig_input_shape must be 1-dimensional and 5 elements, got shape ",
                             sizes.shape().ToString());
    }
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                            TensorShape::Make(std::vector<int64_t>(sizes.flat<int32_t>().begin(),
                                                                   sizes.flat<int32_t>().end())));
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, Geometry(shape));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, Pooled(g));
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, pooled));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> dy;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(c, grad, channels()));
    SLUICE_RETURN_IF_ERROR(dx.Open(c, out, channels()));
    const int64_t n = g.in_channels, positions = Product(g.out);
    c.ParallelFor(
        g.batch, Cost(g) * static_cast<double>(positions), [&](int64_t begin, int64_t end) {
          std::fill_n(dx.data() + begin * g.in_volume(), (end - begin) * g.in_volume(), 0.0f);
          for (int64_t i = begin * positions; i < end * positions; ++i) {
            const auto size = static_cast<float>(WindowSize(g, i));
            const float* from = dy.data() + i * n;
            ForWindow(g, i, [&](int64_t p) {
              float* to = dx.data() + p * n;
              for (int64_t k = 0; k < n; ++k) to[k] += from[k] / size;
            });
          }
        });
    return dx.Close(c);
  }
};
KERNELS(AvgPool3DGrad, "T", AvgPool3DGradKernel, Floats);

// MaxPool3DGrad gives an output's gradient to every element that is as great as the output;
// MaxPool3DGradGrad takes the gradient at the first of them.
template <typename T, bool kSecond>
class MaxPool3DGradBase : public VolumePoolKernel {
 public:
  using VolumePoolKernel::VolumePoolKernel;

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &pooled = c.input(1), &grad = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const VolumeGeometry g, Geometry(in.shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape expected, Pooled(g));
    SLUICE_RETURN_IF_ERROR(CheckShape("orig_output", pooled, expected));
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, kSecond ? in.shape() : expected));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, kSecond ? expected : in.shape(), &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x, y, dy;
    WrittenImages<T> result;
    SLUICE_RETURN_IF_ERROR(x.Open(c, in, channels()));
    SLUICE_RETURN_IF_ERROR(y.Open(c, pooled, channels()));
    SLUICE_RETURN_IF_ERROR(dy.Open(c, grad, channels()));
    SLUICE_RETURN_IF_ERROR(result.Open(c, out, channels()));
    const int64_t positions = Product(g.out);
    std::fill_n(result.data(), out->num_elements(), 0.0f);
    c.ParallelFor(g.batch, Cost(g) * static_cast<double>(positions),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin * positions; i < end * positions; ++i) {
                      Window(g, i, x.data(), y.data(), dy.data(), result.data());
                    }
                  });
    return result.Close(c);
  }

 private:
  static void Window(const VolumeGeometry& g, int64_t i, const float* x, const float* y,
                     const float* dy, float* to) {
    const int64_t n = g.in_channels;
    const float* greatest = y + i * n;
    std::vector<char> is_found(kSecond ? static_cast<size_t>(n) : 0);
    ForWindow(g, i, [&](int64_t p) {
      for (int64_t k = 0; k < n; ++k) {
        if (x[p * n + k] != greatest[k]) continue;
        if constexpr (kSecond) {
          if (!is_found[static_cast<size_t>(k)]) to[i * n + k] = dy[p * n + k];
          is_found[static_cast<size_t>(k)] = 1;
        } else {
          to[p * n + k] += dy[i * n + k];
        }
      }
    });
  }
};
template <typename T>
using MaxPool3DGradKernel = MaxPool3DGradBase<T, false>;
template <typename T>
using MaxPool3DGradGradKernel = MaxPool3DGradBase<T, true>;
#define SLUICE_MAX_POOL_3D(T)                                          \
  KERNEL(MaxPool3DGrad, MaxPool3DGradKernel<T>, {"T", kDataTypeOf<T>}, \
         {"TInput", kDataTypeOf<T>});                                  \
  KERNEL(MaxPool3DGradGrad, MaxPool3DGradGradKernel<T>, {"T", kDataTypeOf<T>})
SLUICE_MAX_POOL_3D(bfloat16);
SLUICE_MAX_POOL_3D(float);
#undef SLUICE_MAX_POOL_3D

}  // namespace
}  // namespace sluice
