#include "ops/conv/depthwise_conv.h"

#include <algorithm>

#include "executor/cpu/target_clones.h"
#include "graph/status.h"
#include "ops/loops/add_to.h"
#include "ops/loops/wrapping.h"

namespace sluice::depthwise_conv {
namespace {

// Calls f(output position, input position, tap) for each element of the window that lies in the
// image, for lines [begin, end) of one image's output. A tap is a position of the filter, with the
// weights of all output channels at this position.
template <typename Function>
void ForTaps(const WindowGeometry& g, int64_t begin, int64_t end, Function f) {
  const Space &k = g.window, &d = g.dilation;
  for (int64_t line = begin; line < end; ++line) {
    const int64_t front = g.First(0, line / g.out.height), top = g.First(1, line % g.out.height);
    for (int64_t x = 0; x < g.out.width; ++x) {
      const int64_t left = g.First(2, x);
      for (int64_t kz = 0; kz < k.depth; ++kz) {
        const int64_t in_z = front + kz * d.depth;
        if (in_z < 0 || in_z >= g.in.depth) continue;
        for (int64_t ky = 0; ky < k.height; ++ky) {
          const int64_t in_y = top + ky * d.height;
          if (in_y < 0 || in_y >= g.in.height) continue;
          for (int64_t kx = 0; kx < k.width; ++kx) {
            const int64_t in_x = left + kx * d.width;
            if (in_x < 0 || in_x >= g.in.width) continue;
            f(line * g.out.width + x, (in_z * g.in.height + in_y) * g.in.width + in_x,
              (kz * k.height + ky) * k.width + kx);
          }
        }
      }
    }
  }
}

int64_t LinesOf(const WindowGeometry& g) { return g.out.depth * g.out.height; }
int64_t MultiplierOf(const WindowGeometry& g) { return g.out_channels / g.in_channels; }

template <typename F>
SLUICE_INLINE_IN_CLONES F MultiplyAdd(F x, F y, F sum) {
  return WrappingAdd(sum, WrappingMultiply(x, y));
}

// Computes out[c * m + q] += in[c] * tap[c * m + q].
template <typename F>
SLUICE_TARGET_CLONES void AddProduct(const F* in, const F* tap, int64_t channels, int64_t m,
                                     F* out) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) out[c] = MultiplyAdd(in[c], tap[c], out[c]);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t q = c * m; q < (c + 1) * m; ++q) out[q] = MultiplyAdd(in[c], tap[q], out[q]);
  }
}

// Adds the sum of a[c * m + q] * b[c * m + q] over q to out[c].
template <typename F>
SLUICE_TARGET_CLONES void AddInner(const F* a, const F* b, int64_t channels, int64_t m, F* out) {
  if (m == 1) {
#pragma GCC ivdep
    for (int64_t c = 0; c < channels; ++c) out[c] = MultiplyAdd(a[c], b[c], out[c]);
    return;
  }
  for (int64_t c = 0; c < channels; ++c) {
    F sum(0);
    for (int64_t q = c * m; q < (c + 1) * m; ++q) sum = MultiplyAdd(a[q], b[q], sum);
    out[c] = WrappingAdd(out[c], sum);
  }
}

// Returns the cost of one line of outputs in nanoseconds.
double LineCost(const WindowGeometry& g) {
  return 0.5 * static_cast<double>(g.out.width) * static_cast<double>(g.out_channels) *
         static_cast<double>(g.window.count());
}

}  // namespace

template <typename F>
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                     F* out) {
  const int64_t lines = LinesOf(g), size = g.out.width * g.out_channels, m = MultiplierOf(g);
  context.ParallelFor(g.batch * lines, LineCost(g), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / lines, line = i % lines;
      const F* from = in + image * g.in_image();
      F* to = out + image * g.out_image();
      std::fill_n(to + line * size, size, F(0));
      ForTaps(g, line, line + 1, [&](int64_t output, int64_t input, int64_t tap) {
        AddProduct(from + input * g.in_channels, filter + tap * g.out_channels, g.in_channels, m,
                   to + output * g.out_channels);
      });
    }
  });
  return absl::OkStatus();
}

template <typename F>
absl::Status BackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                           const F* filter, F* in_grad) {
  const int64_t m = MultiplierOf(g);
  const double cost = LineCost(g) * static_cast<double>(LinesOf(g));
  context.ParallelFor(g.batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image) {
      const F* from = out_grad + image * g.out_image();
      F* to = in_grad + image * g.in_image();
      std::fill_n(to, g.in_image(), F(0));
      ForTaps(g, 0, LinesOf(g), [&](int64_t output, int64_t input, int64_t tap) {
        AddInner(from + output * g.out_channels, filter + tap * g.out_channels, g.in_channels, m,
                 to + input * g.in_channels);
      });
    }
  });
  return absl::OkStatus();
}

template <typename F>
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                            const F* out_grad, F* filter_grad) {
  const int64_t size = g.window.count() * g.out_channels, m = MultiplierOf(g);
  const int64_t blocks = std::clamp<int64_t>(g.batch, 1, 16);  // each block has sums of its own
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(kDataTypeOf<F>, {blocks, size}));
  F* sums = partial.data<F>();
  std::fill_n(sums, blocks * size, F(0));
  const double cost = LineCost(g) * static_cast<double>(LinesOf(g) * g.batch / blocks);
  context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t i = b * g.batch / blocks; i < (b + 1) * g.batch / blocks; ++i) {
        ForTaps(g, 0, LinesOf(g), [&](int64_t output, int64_t input, int64_t tap) {
          AddProduct(in + i * g.in_image() + input * g.in_channels,
                     out_grad + i * g.out_image() + output * g.out_channels, g.in_channels, m,
                     sums + b * size + tap * g.out_channels);
        });
      }
    }
  });
  std::copy_n(sums, size, filter_grad);
  for (int64_t b = 1; b < blocks; ++b) AddTo(filter_grad, sums + b * size, size);
  return absl::OkStatus();
}

#define SLUICE_INSTANTIATE(F)                                                                     \
  template absl::Status Forward(KernelContext&, const WindowGeometry&, const F*, const F*, F*);   \
  template absl::Status BackpropInput(KernelContext&, const WindowGeometry&, const F*, const F*,  \
                                      F*);                                                        \
  template absl::Status BackpropFilter(KernelContext&, const WindowGeometry&, const F*, const F*, \
                                       F*)
SLUICE_INSTANTIATE(float);
SLUICE_INSTANTIATE(double);
SLUICE_INSTANTIATE(int32_t);
#undef SLUICE_INSTANTIATE

}  // namespace sluice::depthwise_conv
