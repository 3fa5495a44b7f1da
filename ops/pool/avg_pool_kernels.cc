#include <algorithm>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/add_to.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/int_tensor.h"
#include "ops/pool/pool_geometry.h"

namespace sluice {
namespace {

// y += x / divisor.
template <typename F>
SLUICE_TARGET_CLONES void AddQuotient(const F* x, F divisor, F* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] += x[i] / divisor;
}
template <typename F>
SLUICE_TARGET_CLONES void Divide(F* x, F divisor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] /= divisor;
}

double LineCost(const PoolGeometry& g) { return 0.3 * g.line_elements(); }

template <typename T>
class AvgPoolKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit AvgPoolKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor& in = context.input(0);
    SLUICE_ASSIGN_OR_RETURN(const PoolGeometry g, attrs_.Geometry(context, in.shape(), 1));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, attrs_.OutputShape(g));
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, pooled, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> x;
    WrittenImages<T> y;
    SLUICE_RETURN_IF_ERROR(x.Open(context, in, ChannelsOf(attrs_.layout())));
    SLUICE_RETURN_IF_ERROR(y.Open(context, out, ChannelsOf(attrs_.layout())));
    context.ParallelFor(g.batch * g.out_height, LineCost(g), [&](int64_t begin, int64_t end) {
      Lines(g, x.data(), y.data(), begin, end);
    });
    return y.Close(context);
  }

 private:
  static void Lines(const PoolGeometry& g, const F* in, F* out, int64_t begin, int64_t end) {
    const int64_t c = g.channels;
    for (int64_t line = begin; line < end; ++line) {
      const F* image = in + line / g.out_height * g.in_image();
      const auto rows = g.Rows(line % g.out_height);
      for (int64_t x = 0; x < g.out_width; ++x) {
        const auto columns = g.Columns(x);
        F* sum = out + (line * g.out_width + x) * c;
        std::fill_n(sum, c, F(0));
        for (int64_t y = rows.first; y < rows.last; ++y) {
          const F* from = image + (y * g.in_width + columns.first) * c;
          for (int64_t k = 0; k < columns.size(); ++k) AddTo(sum, from + k * c, c);
        }
        Divide(sum, static_cast<F>(rows.size() * columns.size()), c);
      }
    }
  }

  const PoolAttrs attrs_;
};
KERNELS(AvgPool, "T", AvgPoolKernel, FloatList);

template <typename T>
class AvgPoolGradKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit AvgPoolGradKernel(KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& context) override {
    const Tensor &sizes = context.input(0), &grad = context.input(1);
    if (!sizes.shape().IsVector() || sizes.num_elements() != 4) {
      return InvalidArgument("out_backprop must be 1-dimensional and 4 elements");
    }
    if (grad.rank() != 4) return InvalidArgument("out_backprop must be 4-dimensional");
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(sizes)));
    SLUICE_ASSIGN_OR_RETURN(const PoolGeometry g, attrs_.Geometry(context, shape, 2));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape pooled, attrs_.OutputShape(g));
    if (!(grad.shape() == pooled)) {
      return InvalidArgument("Expected grad shape to be ", pooled.ToString(), ", but got ",
                             grad.shape().ToString());
    }
    Tensor* out;
    SLUICE_RETURN_IF_ERROR(context.AllocateOutput(0, shape, &out));
    if (out->num_elements() == 0) return absl::OkStatus();
    ReadImages<T> dy;
    WrittenImages<T> dx;
    SLUICE_RETURN_IF_ERROR(dy.Open(context, grad, ChannelsOf(attrs_.layout())));
    SLUICE_RETURN_IF_ERROR(dx.Open(context, out, ChannelsOf(attrs_.layout())));
    context.ParallelFor(g.batch, LineCost(g) * static_cast<double>(g.out_height),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i) {
                            Image(g, dy.data() + i * g.out_image(), dx.data() + i * g.in_image());
                          }
                        });
    return dx.Close(context);
  }

 private:
  static void Image(const PoolGeometry& g, const F* grad, F* in_grad) {
    const int64_t c = g.channels;
    std::fill_n(in_grad, g.in_image(), F(0));
    for (int64_t out_y = 0; out_y < g.out_height; ++out_y) {
      const auto rows = g.Rows(out_y);
      for (int64_t out_x = 0; out_x < g.out_width; ++out_x) {
        const auto columns = g.Columns(out_x);
        const F* from = grad + (out_y * g.out_width + out_x) * c;
        const F count = static_cast<F>(rows.size() * columns.size());
        for (int64_t y = rows.first; y < rows.last; ++y) {
          F* to = in_grad + (y * g.in_width + columns.first) * c;
          for (int64_t k = 0; k < columns.size(); ++k) AddQuotient(from, count, to + k * c, c);
        }
      }
    }
  }

  const PoolAttrs attrs_;
};
KERNELS(AvgPoolGrad, "T", AvgPoolGradKernel, FloatList);

}  // namespace
}  // namespace sluice
