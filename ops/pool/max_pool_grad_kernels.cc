// Kernels of the gradients of MaxPool and MaxPool3D, and of the gradients of these gradients.
//
// MaxPoolGrad sends an output's gradient to the first of the greatest elements of its window, and
// MaxPoolGradGrad reads gradients from there. MaxPool3DGrad sends it to all elements that are equal
// to the output, and MaxPool3DGradGrad reads the gradient at the first of them.
#include <algorithm>
#include <concepts>
#include <type_traits>

#include "executor/cpu/prefetch.h"
#include "executor/cpu/target_clones.h"
#include "graph/status.h"
#include "ops/loops/image_tensor.h"
#include "ops/loops/wrapping.h"
#include "ops/pool/greatest.h"
#include "ops/pool/pool_geometry.h"
#include "ops/pool/pool_windows.h"

namespace sluice {
namespace {

// Vectors of neighbouring channels. They are explicit, because the compiler would turn the
// comparisons into branches.
template <std::floating_point T>
struct Lanes {
  static constexpr int64_t kCount = 32 / sizeof(T);
  typedef T Vec __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  static SLUICE_INLINE_IN_CLONES Vec& At(T* p) { return *reinterpret_cast<Vec*>(p); }
  static SLUICE_INLINE_IN_CLONES const Vec& At(const T* p) {
    return *reinterpret_cast<const Vec*>(p);
  }
};

// Returns whether windows of 2 x 2 pixels tile the image, and the channels fill whole vectors.
template <std::floating_point T>
bool IsTiledByQuads(const WindowGeometry& g) {
  constexpr Space kQuad = {1, 2, 2}, kNone = {0, 0, 0};
  return g.in.depth == 1 && g.window == kQuad && g.stride.height == 2 && g.stride.width == 2 &&
         g.pad == kNone && 2 * g.out.height == g.in.height && 2 * g.out.width == g.in.width &&
         g.in_channels % Lanes<T>::kCount == 0;
}

// Processes one image for which IsTiledByQuads holds. In each window, the first of the greatest
// elements gets the gradient, and the others get zeros.
template <std::floating_point T>
SLUICE_TARGET_CLONES void SendToQuads(const WindowGeometry& g, const T* image, const T* grad,
                                      T* to) {
  using L = Lanes<T>;
  const int64_t c = g.in_channels, line = g.in.width * c, windows = g.out.height * g.out.width;
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t at = 2 * (w / g.out.width * line + w % g.out.width * c);
    for (int64_t i = at; i < at + c; i += L::kCount, grad += L::kCount) {
      for (const int64_t below : {2 * line, 2 * line + c, 3 * line, 3 * line + c}) {
        Prefetch(image, i + below);
        Prefetch<true>(to, i + below);
      }
      const typename L::Vec x0 = L::At(image + i), x1 = L::At(image + i + c);
      const typename L::Vec x2 = L::At(image + i + line), x3 = L::At(image + i + line + c);
      const typename L::Vec zero = {}, sent = zero + L::At(grad);  // -0 becomes 0, as in a sum
      const auto is_1 = x1 > x0;
      const typename L::Vec best_1 = is_1 ? x1 : x0;
      const auto is_2 = x2 > best_1;
      const typename L::Vec best_2 = is_2 ? x2 : best_1;
      const auto is_3 = x3 > best_2;
      L::At(to + i) = (is_1 | is_2 | is_3) ? zero : sent;
      L::At(to + i + c) = (is_1 & ~is_2 & ~is_3) ? sent : zero;
      L::At(to + i + line) = (is_2 & ~is_3) ? sent : zero;
      L::At(to + i + line + c) = is_3 ? sent : zero;
    }
  }
}

// The inputs are orig_input, orig_output and grad. V2 also has ksize and strides. kSecond selects
// the gradient of the gradient.
template <typename T, bool kSecond>
class MaxPoolGradBase : public Kernel {
 public:
  explicit MaxPoolGradBase(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &grad = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs_.Of(c, in.shape(), 3));
    const WindowGeometry& g = pool.g;
    SLUICE_RETURN_IF_ERROR(CheckShape("orig_output", c.input(1), pool.pooled));
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, kSecond ? in.shape() : pool.pooled));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, kSecond ? pool.pooled : in.shape()));
    if (in.num_elements() == 0 || pool.pooled.num_elements() == 0) return FillWithZeros(out);
    SLUICE_RETURN_IF_ERROR(CheckPixels(g));
    const Channels channels = attrs_.channels();
    const double cost = 0.6 * ElementsOfLine(g) * static_cast<double>(LinesOfImage(g));
    return WithImages<T, T>(
        c, {{in, channels}, {grad, channels}}, out, channels, [&](const T* x, const T* dy, T* to) {
          c.ParallelFor(g.batch, cost,
                        [&](int64_t begin, int64_t end) { Images(c, g, begin, end, x, dy, to); });
          return absl::OkStatus();
        });
  }

 private:
  // Processes images [begin, end).
  static void Images(const KernelContext& c, const WindowGeometry& g, int64_t begin, int64_t end,
                     const T* in, const T* grad, T* to) {
    const int64_t first = begin * LinesOfImage(g), last = end * LinesOfImage(g);
    if constexpr (kSecond) {
      ForGreatest(c, g, in, first, last,
                  [&](int64_t output, int64_t base, int64_t at) { to[output] = grad[base + at]; });
      return;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (IsTiledByQuads<T>(g)) {
        for (int64_t i = begin; i < end; ++i) {
          SendToQuads(g, in + i * g.in_image(), grad + i * g.out_image(), to + i * g.in_image());
        }
        return;
      }
    }
    std::fill_n(to + begin * g.in_image(), (end - begin) * g.in_image(), T(0));
    ForGreatest(c, g, in, first, last, [&](int64_t output, int64_t base, int64_t at) {
      to[base + at] = WrappingAdd(to[base + at], grad[output]);
    });
  }

  const PoolAttrs attrs_;
};
template <typename T>
using MaxPoolGrad = MaxPoolGradBase<T, false>;
template <typename T>
using MaxPoolGradGrad = MaxPoolGradBase<T, true>;
KERNELS(MaxPoolGrad, "T", MaxPoolGrad, RealList);
KERNELS(MaxPoolGradV2, "T", MaxPoolGrad, RealList);
KERNELS(MaxPoolGradGrad, "T", MaxPoolGradGrad, RealList);
KERNELS(MaxPoolGradGradV2, "T", MaxPoolGradGrad, RealList);

// The inputs are orig_input, orig_output and grad. Numbers of 16-bit types are converted to float,
// and added in float.
template <typename T, bool kSecond>
class MaxPool3DGradBase : public Kernel {
 public:
  explicit MaxPool3DGradBase(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &in = c.input(0), &pooled = c.input(1), &grad = c.input(2);
    SLUICE_ASSIGN_OR_RETURN(const Pool pool, attrs_.Of(c, in.shape(), 3));
    const WindowGeometry& g = pool.g;
    SLUICE_RETURN_IF_ERROR(CheckShape("orig_output", pooled, pool.pooled));
    SLUICE_RETURN_IF_ERROR(CheckShape("grad", grad, kSecond ? in.shape() : pool.pooled));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, kSecond ? pool.pooled : in.shape()));
    if (out->num_elements() == 0) return absl::OkStatus();
    const Channels channels = attrs_.channels();
    const double cost = 0.4 * ElementsOfLine(g) * static_cast<double>(LinesOfImage(g));
    return WithImages<T>(c, {{in, channels}, {pooled, channels}, {grad, channels}}, out, channels,
                         [&](const float* x, const float* y, const float* dy, float* to) {
                           std::fill_n(to, out->num_elements(), 0.0f);
                           c.ParallelFor(g.batch, cost, [&](int64_t begin, int64_t end) {
                             Images(c, g, begin, end, x, y, dy, to);
                           });
                           return absl::OkStatus();
                         });
  }

 private:
  // Processes images [begin, end).
  static void Images(const KernelContext& c, const WindowGeometry& g, int64_t begin, int64_t end,
                     const float* x, const float* y, const float* dy, float* to) {
    const int64_t n = g.in_channels, lines = LinesOfImage(g);
    auto last_read = Scratch<int64_t>(c, n);  // the last output that has read each channel
    std::fill(last_read.begin(), last_read.end(), -1);
    ForWindows(g, begin * lines, end * lines, [&](int64_t output, const PoolWindow& w) {
      const int64_t base = w.image * g.in_image(), at = output * n;
      w.ForRuns(g, [&](int64_t first, int64_t pixels) {
        for (int64_t i = base + first * n; i < base + (first + pixels) * n; i += n) {
          for (int64_t k = 0; k < n; ++k) {
            if (x[i + k] != y[at + k]) continue;
            if (!kSecond) {
              to[i + k] += dy[at + k];
            } else if (last_read[k] != output) {
              to[at + k] = dy[i + k];
              last_read[k] = output;
            }
          }
        }
      });
    });
  }

  const PoolAttrs attrs_;
};
template <typename T>
using MaxPool3DGrad = MaxPool3DGradBase<T, false>;
template <typename T>
using MaxPool3DGradGrad = MaxPool3DGradBase<T, true>;
KERNEL(MaxPool3DGrad, MaxPool3DGrad<bfloat16>, {"T", DT_BFLOAT16}, {"TInput", DT_BFLOAT16});
KERNEL(MaxPool3DGrad, MaxPool3DGrad<float>, {"T", DT_FLOAT}, {"TInput", DT_FLOAT});
using FloatsOf3D = TypeList<bfloat16, float>;
KERNELS(MaxPool3DGradGrad, "T", MaxPool3DGradGrad, FloatsOf3D);

}  // namespace
}  // namespace sluice
