// Kernels of AvgPool and AvgPool3D, and of their gradients.
#include <algorithm>
#include <vector>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/loops/add_to.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/int_tensor.h"
#include "ops/loops/wrapping.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_windows.h"

namespace sluice {
namespace {

// Computes y += x / divisor.
template <typename F>
SLUICE_TARGET_CLONES void AddQuotient(const F* x, F divisor, F* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] += x[i] / divisor;
}
template <typename F>
SLUICE_TARGET_CLONES void Divide(F* x, F divisor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] /= divisor;
}

// Returns the cost of one line of outputs in nanoseconds.
double LineCost(const WindowGeometry& g) { return 0.3 * ElementsOfLine(g); }

template <typename T>
class AvgPoolKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit AvgPoolKernel(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor& in = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs_.Of(c, in.shape(), 1));
    const WindowGeometry& g = pool.g;
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pool.pooled));
    if (out->num_elements() == 0) return absl::OkStatus();
    return WithImages<T>(
        c, {{in, attrs_.channels()}}, out, attrs_.channels(), [&](const F* x, F* y) {
          c.ParallelFor(LinesOf(g), LineCost(g),
                        [&](int64_t begin, int64_t end) { Average(g, x, y, begin, end); });
          return absl::OkStatus();
        });
  }

 private:
  static void Average(const WindowGeometry& g, const F* x, F* y, int64_t begin, int64_t end) {
    const int64_t n = g.in_channels;
    ForWindows(g, begin, end, [&](int64_t output, const PoolWindow& w) {
      const F* image = x + w.image * g.in_image();
      F* sum = y + output * n;
      std::fill_n(sum, n, F(0));
      w.ForRuns(g, [&](int64_t first, int64_t pixels) {
        for (int64_t p = first; p < first + pixels; ++p) AddTo(sum, image + p * n, n);
      });
      Divide(sum, static_cast<F>(w.pixels()), n);
    });
  }

  const PoolAttrs attrs_;
};

using FloatsOf3D = TypeList<bfloat16, float>;
KERNELS(AvgPool, "T", AvgPoolKernel, FloatList);
KERNELS(AvgPool3D, "T", AvgPoolKernel, FloatsOf3D);

// Computes QuantizedAvgPool. Adds integers in 32 bits.
template <typename T>
absl::Status QuantizedAvgPool(KernelContext& c, const PoolAttrs& attrs) {
  SLUICE_RETURN_IF_ERROR(CopyRange(c));
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs.Of(c, in.shape(), 1));
  const WindowGeometry& g = pool.g;
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pool.pooled));
  if (out->num_elements() == 0) return absl::OkStatus();
  const T* x = in.data<T>();
  T* y = out->data<T>();
  const int64_t n = g.in_channels;
  c.ParallelFor(LinesOf(g), LineCost(g), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sums(static_cast<size_t>(n));
    ForWindows(g, begin, end, [&](int64_t output, const PoolWindow& w) {
      const T* image = x + w.image * g.in_image();
      std::fill(sums.begin(), sums.end(), 0);
      w.ForRuns(g, [&](int64_t first, int64_t pixels) {
        for (int64_t i = first * n; i < (first + pixels) * n; ++i) {
          sums[i % n] = WrappingAdd<int32_t>(sums[i % n], image[i]);
        }
      });
      const int64_t pixels = std::max<int64_t>(w.pixels(), 1);
      for (int64_t k = 0; k < n; ++k) y[output * n + k] = static_cast<T>(sums[k] / pixels);
    });
  });
  return absl::OkStatus();
}
KERNEL(QuantizedAvgPool, FunctionKernel<QuantizedAvgPool<uint8_t>>, {"T", DT_QUINT8});
KERNEL(QuantizedAvgPool, FunctionKernel<QuantizedAvgPool<int8_t>>, {"T", DT_QINT8});

template <typename T>
class AvgPoolGradKernel : public Kernel {
 public:
  using F = ImageElement<T>;
  explicit AvgPoolGradKernel(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &sizes = c.input(0), &grad = c.input(1);
    SLUICE_INVALID_IF(!sizes.shape().IsVector() || sizes.num_elements() != attrs_.rank(),
                      "orig_input_shape must be 1-dimensional and ", attrs_.rank(),
                      " elements, got shape ", sizes.shape().ToString());
    SLUICE_INVALID_IF(grad.rank() != attrs_.rank(), "out_backprop must be ", attrs_.rank(),
                      "-dimensional");
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(IntsOf(sizes)));
    SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs_.Of(c, shape, 2));
    const WindowGeometry& g = pool.g;
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, pool.pooled));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return absl::OkStatus();
    const double cost = LineCost(g) * static_cast<double>(LinesOfImage(g));
    return WithImages<T>(
        c, {{grad, attrs_.channels()}}, out, attrs_.channels(), [&](const F* dy, F* dx) {
          c.ParallelFor(g.batch, cost,
                        [&](int64_t begin, int64_t end) { Spread(g, dy, dx, begin, end); });
          return absl::OkStatus();
        });
  }

 private:
  // Computes the gradient of images [begin, end). Each pixel under a window gets an equal part of
  // the window's gradient.
  static void Spread(const WindowGeometry& g, const F* dy, F* dx, int64_t begin, int64_t end) {
    const int64_t n = g.in_channels, lines = LinesOfImage(g);
    std::fill_n(dx + begin * g.in_image(), (end - begin) * g.in_image(), F(0));
    ForWindows(g, begin * lines, end * lines, [&](int64_t output, const PoolWindow& w) {
      F* image = dx + w.image * g.in_image();
      const F count = static_cast<F>(w.pixels());
      w.ForRuns(g, [&](int64_t first, int64_t pixels) {
        for (int64_t p = first; p < first + pixels; ++p) {
          AddQuotient(dy + output * n, count, image + p * n, n);
        }
      });
    });
  }

  const PoolAttrs attrs_;
};
KERNELS(AvgPoolGrad, "T", AvgPoolGradKernel, FloatList);
KERNELS(AvgPool3DGrad, "T", AvgPoolGradKernel, FloatsOf3D);

}  // namespace
}  // namespace sluice
