// Kernels of MaxPool, MaxPoolV2 and MaxPool3D. Their gradients are in max_pool_grad_kernels.cc.
#include <algorithm>
#include <limits>

#include "executor/cpu/target_clones.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_windows.h"

namespace sluice {
namespace {

// Computes best = max(best, x), element by element. Skips NaNs in x.
template <typename T>
SLUICE_TARGET_CLONES void TakeGreater(const T* x, T* best, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) best[i] = x[i] > best[i] ? x[i] : best[i];
}

// Sets each output to the maximum of `window` adjacent channels.
template <typename T>
void OverChannels(KernelContext& c, int64_t window, const T* x, T* y, int64_t outputs) {
  c.ParallelFor(outputs, static_cast<double>(window), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      y[i] = *std::max_element(x + i * window, x + (i + 1) * window);
    }
  });
}

template <typename T>
void OverSpace(KernelContext& c, const WindowGeometry& g, const T* x, T* y) {
  const int64_t n = g.in_channels;
  c.ParallelFor(LinesOf(g), 0.3 * ElementsOfLine(g), [&](int64_t begin, int64_t end) {
    ForWindows(g, begin, end, [&](int64_t output, const PoolWindow& w) {
      const T* image = x + w.image * g.in_image();
      T* best = y + output * n;
      std::fill_n(best, n, std::numeric_limits<T>::lowest());
      w.ForRuns(g, [&](int64_t first, int64_t pixels) {
        for (int64_t p = first; p < first + pixels; ++p) TakeGreater(image + p * n, best, n);
      });
    });
  });
}

// Computes MaxPool. Compares numbers of 16-bit types without conversion.
template <typename T>
absl::Status MaxPool(KernelContext& c, const PoolAttrs& attrs) {
  const Tensor& in = c.input(0);
  SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs.Of(c, in.shape(), 1));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pool.pooled));
  if (out->num_elements() == 0) return absl::OkStatus();
  return WithImages<T, T>(c, {{in, attrs.channels()}}, out, attrs.channels(),
                          [&](const T* x, T* y) {
                            if (pool.g.window_channels > 1) {
                              OverChannels(c, pool.g.window_channels, x, y, out->num_elements());
                            } else {
                              OverSpace(c, pool.g, x, y);
                            }
                            return absl::OkStatus();
                          });
}
FUNCTION_KERNELS(MaxPool, "T", MaxPool, RealList);
FUNCTION_KERNELS(MaxPoolV2, "T", MaxPool, RealList);

template <typename T>
absl::Status QuantizedMaxPool(KernelContext& c, const PoolAttrs& attrs) {
  SLUICE_RETURN_IF_ERROR(CopyRange(c));
  return MaxPool<T>(c, attrs);
}
KERNEL(QuantizedMaxPool, FunctionKernel<QuantizedMaxPool<uint8_t>>, {"T", DT_QUINT8});
KERNEL(QuantizedMaxPool, FunctionKernel<QuantizedMaxPool<int8_t>>, {"T", DT_QINT8});

using FloatsOf3D = TypeList<bfloat16, float>;
FUNCTION_KERNELS(MaxPool3D, "T", MaxPool, FloatsOf3D);

}  // namespace
}  // namespace sluice
