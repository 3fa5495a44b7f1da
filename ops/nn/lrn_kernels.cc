#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"

namespace sluice {
namespace {

// The common part of both kernels: the attributes, and the norm around a channel.
struct Lrn {
  explicit Lrn(const KernelInit& init)
      : radius(init.attr<int64_t>("depth_radius")),
        bias(init.attr<float>("bias")),
        alpha(init.attr<float>("alpha")),
        beta(init.attr<float>("beta")) {}

  // Checks TensorFlow's bound, which ensures that positions of neighbours fit in an int64.
  absl::Status Check() const {
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (radius >= 0 && radius < kMax) return absl::OkStatus();
    return InvalidArgument("depth_radius = ", radius, " larger than int max or negative");
  }
  int64_t First(int64_t i) const { return std::max<int64_t>(i - radius, 0); }
  int64_t Last(int64_t i, int64_t n) const { return std::min(i + radius, n - 1); }
  // Returns bias + alpha * the sum of squares around channel i of a row of n channels.
  float Norm(const float* row, int64_t n, int64_t i) const {
    float sum = 0;
    for (int64_t j = First(i); j <= Last(i, n); ++j) sum += row[j] * row[j];
    return bias + alpha * sum;
  }

  const int64_t radius;
  const float bias, alpha, beta;
};

template <typename T>
class LrnKernel : public Kernel {
 public:
  explicit LrnKernel(const KernelInit& init) : lrn_(init) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(lrn_.Check());
    const Tensor& in = c.input(0);
    SLUICE_INVALID_IF(in.rank() != 4, "in must be 4-dimensional");
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
    if (in.num_elements() == 0) return absl::OkStatus();
    const int64_t n = in.dim(3), rows = in.num_elements() / n;
    return WithImages<T>(c, {{in}}, out, Channels::kLast, [&](const float* x, float* y) {
      c.ParallelFor(rows, 30.0 * static_cast<double>(n), [&](int64_t begin, int64_t end) {
        for (int64_t r = begin * n; r < end * n; r += n) {
          for (int64_t i = 0; i < n; ++i) {
            y[r + i] = x[r + i] * std::pow(lrn_.Norm(x + r, n, i), -lrn_.beta);
          }
        }
      });
      return absl::OkStatus();
    });
  }

 private:
  const Lrn lrn_;
};
using LrnTypes = TypeList<half, float>;
KERNELS(LRN, "T", LrnKernel, LrnTypes);

// The output is y_j = x_j * norm_j^-beta. For channels i around j, dy_j/dx_i = [i = j] norm_j^-beta
// - 2 alpha beta x_i y_j / norm_j.
template <typename T>
class LrnGradKernel : public Kernel {
 public:
  explicit LrnGradKernel(const KernelInit& init) : lrn_(init) {}

  absl::Status Compute(KernelContext& c) override {
    SLUICE_RETURN_IF_ERROR(lrn_.Check());
    const TensorShape shape = c.input(0).shape();
    for (int i = 0; i < 3; ++i) {
      if (shape.rank() == 4 && c.input(i).shape() == shape) continue;
      return InvalidArgument("input_grads, input_image, and out_image should have the same shape");
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (shape.num_elements() == 0) return absl::OkStatus();
    const int64_t n = shape.dim(3), rows = shape.num_elements() / n;
    return WithImages<T>(c, {{c.input(0)}, {c.input(1)}, {c.input(2)}}, out, Channels::kLast,
                         [&](const float* dy, const float* x, const float* y, float* dx) {
                           c.ParallelFor(rows, 50.0 * static_cast<double>(n),
                                         [&](int64_t begin, int64_t end) {
                                           for (int64_t r = begin * n; r < end * n; r += n) {
                                             Row(dy + r, x + r, y + r, n, dx + r);
                                           }
                                         });
                           return absl::OkStatus();
                         });
  }

 private:
  void Row(const float* dy, const float* x, const float* y, int64_t n, float* dx) const {
    std::fill_n(dx, n, 0.0f);
    for (int64_t j = 0; j < n; ++j) {
      const float norm = lrn_.Norm(x, n, j);
      const float around = -2 * lrn_.alpha * lrn_.beta * y[j] / norm * dy[j];
      for (int64_t i = lrn_.First(j); i <= lrn_.Last(j, n); ++i) dx[i] += around * x[i];
      dx[j] += std::pow(norm, -lrn_.beta) * dy[j];
    }
  }

  const Lrn lrn_;
};
KERNELS(LRNGrad, "T", LrnGradKernel, LrnTypes);

}  // namespace
}  // namespace sluice
