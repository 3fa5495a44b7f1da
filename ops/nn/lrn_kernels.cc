#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"
#include "executor/kernel/scratch.h"
#include "graph/status.h"
#include "ops/loops/elementwise.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/vector_math.h"

namespace sluice {
namespace {

// sums[i] += x[j] for all j around i, in their order.
SLUICE_INLINE_IN_CLONES void AddAround(const float* x, int64_t n, int64_t radius, float* sums) {
  for (int64_t d = -radius; d <= radius; ++d) {
    const int64_t begin = d < 0 ? -d : 0, end = d < 0 ? n : n - d;
    SLUICE_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) sums[i] += x[i + d];
  }
}

// y = x^-beta. Roots take a tenth of the time of other powers.
SLUICE_INLINE_IN_CLONES void InversePowers(const float* x, float beta, int64_t n, float* y) {
  if (beta == 0.75f) {
    SLUICE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      const float root = std::sqrt(x[i]);
      y[i] = 1 / (root * std::sqrt(root));
    }
  } else if (beta == 0.5f) {
    SLUICE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = 1 / std::sqrt(x[i]);
  } else {
    SLUICE_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) y[i] = std::pow(x[i], -beta);
  }
}

// Memory for a row of channels.
struct RowScratch {
  RowScratch(const KernelContext& c, int64_t n)
      : terms(Scratch<float>(c, n)), norms(Scratch<float>(c, n)), powers(Scratch<float>(c, n)) {}

  ScratchVector<float> terms, norms, powers;
};

// The attributes of both kernels.
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
  double Cost(int64_t n) const {
    return static_cast<double>(n) * (2 + 0.1 * static_cast<double>(std::min(2 * radius + 1, n)));
  }

  const int64_t radius;
  const float bias, alpha, beta;
};

// Writes bias + alpha * the sum of squares around each of n channels to `norms`, and the power
// -beta of that to `powers`.
SLUICE_INLINE_IN_CLONES void Norms(const Lrn& lrn, const float* x, int64_t n, RowScratch& scratch) {
  float *squares = scratch.terms.data(), *norms = scratch.norms.data();
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    squares[i] = x[i] * x[i];
    norms[i] = 0;
  }
  AddAround(squares, n, std::min(lrn.radius, n - 1), norms);
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) norms[i] = lrn.bias + lrn.alpha * norms[i];
  InversePowers(norms, lrn.beta, n, scratch.powers.data());
}

SLUICE_TARGET_CLONES void Normalize(const Lrn& lrn, const float* x, int64_t n, RowScratch& scratch,
                                    float* y) {
  Norms(lrn, x, n, scratch);
  const float* powers = scratch.powers.data();
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * powers[i];
}

// For y_j = x_j * norm_j^-beta and channels i around j, dy_j/dx_i = [i = j] norm_j^-beta - 2 alpha
// beta x_i y_j / norm_j.
SLUICE_TARGET_CLONES void Backprop(const Lrn& lrn, const float* dy, const float* x, const float* y,
                                   int64_t n, RowScratch& scratch, float* dx) {
  Norms(lrn, x, n, scratch);
  const float *norms = scratch.norms.data(), *powers = scratch.powers.data();
  float* terms = scratch.terms.data();
  const float factor = -2 * lrn.alpha * lrn.beta;
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    terms[i] = factor * y[i] / norms[i] * dy[i];
    dx[i] = 0;
  }
  AddAround(terms, n, std::min(lrn.radius, n - 1), dx);
  SLUICE_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) dx[i] = x[i] * dx[i] + powers[i] * dy[i];
}

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
      c.ParallelFor(rows, lrn_.Cost(n), [&](int64_t begin, int64_t end) {
        RowScratch scratch(c, n);
        for (int64_t r = begin * n; r < end * n; r += n) Normalize(lrn_, x + r, n, scratch, y + r);
      });
      return absl::OkStatus();
    });
  }

 private:
  const Lrn lrn_;
};
using LrnTypes = TypeList<half, float>;
KERNELS(LRN, "T", LrnKernel, LrnTypes);

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
                           c.ParallelFor(rows, lrn_.Cost(n), [&](int64_t begin, int64_t end) {
                             RowScratch scratch(c, n);
                             for (int64_t r = begin * n; r < end * n; r += n) {
                               Backprop(lrn_, dy + r, x + r, y + r, n, scratch, dx + r);
                             }
                           });
                           return absl::OkStatus();
                         });
  }

 private:
  const Lrn lrn_;
};
KERNELS(LRNGrad, "T", LrnGradKernel, LrnTypes);

}  // namespace
}  // namespace sluice
