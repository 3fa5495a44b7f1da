#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// TensorFlow's bound, which keeps the places of neighbours in an int64.
absl::Status CheckRadius(int64_t radius) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (radius >= 0 && radius < kMax) return absl::OkStatus();
  return InvalidArgument("depth_radius must be from 0 to ", kMax - 1, ", got ", radius);
}

struct LrnAttrs {
  explicit LrnAttrs(KernelInit& init)
      : radius(init.attr<int64_t>("depth_radius")),
        bias(init.attr<float>("bias")),
        alpha(init.attr<float>("alpha")),
        beta(init.attr<float>("beta")) {}

  // bias + alpha * the sum of squares around channel i of a row of n.
  float Norm(const float* row, int64_t n, int64_t i) const {
    float sum = 0;
    const int64_t last = std::min(i + radius, n - 1);
    for (int64_t j = std::max<int64_t>(i - radius, 0); j <= last; ++j) sum += row[j] * row[j];
    return bias + alpha * sum;
  }

  const int64_t radius;
  const float bias, alpha, beta;
};

template <typename T>
class LrnKernel : public Kernel {
 public:
  explicit LrnKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    SLUICE_RETURN_IF_ERROR(CheckRadius(attrs_.radius));
    const Tensor& in = context.input(0);
    if (in.rank() != 4) return InvalidArgument("in must be 4-dimensional");
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, in.shape(), &out));
    if (in.num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out));
    const int64_t n = in.dim(3);
    context.ParallelFor(
        in.num_elements() / n, 30.0 * static_cast<double>(n), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const float* row = x.data() + r * n;
            for (int64_t i = 0; i < n; ++i) {
              y.data()[r * n + i] = row[i] * std::pow(attrs_.Norm(row, n, i), -attrs_.beta);
            }
          }
        });
    return y.Close(context);
  }

 private:
  const LrnAttrs attrs_;
};
using LrnList = TypeList<half, float>;
KERNELS(LRN, "T", LrnKernel, LrnList);

// With y_j = x_j * norm_j^-beta: dy_j/dx_i = [i = j] norm_j^-beta - 2 alpha beta x_i y_j / norm_j
// for channels i around j.
template <typename T>
class LrnGradKernel : public Kernel {
 public:
  explicit LrnGradKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    SLUICE_RETURN_IF_ERROR(CheckRadius(attrs_.radius));
    const TensorShape shape = context.input(0).shape();
    for (int i = 0; i < 3; ++i) {
      if (context.input(i).rank() == 4 && context.input(i).shape() == shape) continue;
      return InvalidArgument("input_grads, input_image, and out_image should have the same shape");
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (shape.num_elements() == 0) return absl::OkStatus();
    ReadImages<T> dy, x, y;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(context, context.input(0)));
    SLUICE_RETURN_IF_ERROR(x.Open(context, context.input(1)));
    SLUICE_RETURN_IF_ERROR(y.Open(context, context.input(2)));
    SLUICE_RETURN_IF_ERROR(dx.Open(context, out));
    const int64_t n = shape.dim(3);
    context.ParallelFor(shape.num_elements() / n, 50.0 * static_cast<double>(n),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t r = begin * n; r < end * n; r += n) {
                            Row(dy.data() + r, x.data() + r, y.data() + r, n, dx.data() + r);
                          }
                        });
    return dx.Close(context);
  }

 private:
  void Row(const float* dy, const float* x, const float* y, int64_t n, float* dx) const {
    std::fill_n(dx, n, 0.0f);
    for (int64_t j = 0; j < n; ++j) {
      const float norm = attrs_.Norm(x, n, j);
      const float around = -2 * attrs_.alpha * attrs_.beta * y[j] / norm * dy[j];
      const int64_t last = std::min(j + attrs_.radius, n - 1);
      for (int64_t i = std::max<int64_t>(j - attrs_.radius, 0); i <= last; ++i) {
        dx[i] += around * x[i];
      }
      dx[j] += std::pow(norm, -attrs_.beta) * dy[j];
    }
  }

  const LrnAttrs attrs_;
};
KERNELS(LRNGrad, "T", LrnGradKernel, LrnList);

}  // namespace
}  // namespace sluice
