#include "ops/conv/conv3d_compute.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/conv/patches.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

// Rows of a tile: its patches fit in half of a second-level cache.
int64_t TileRows(const VolumeGeometry& g) {
  constexpr int64_t kTileElements = 48 * 1024;
  return std::clamp<int64_t>(kTileElements / std::max<int64_t>(g.patch(), 1) / 16 * 16, 32, 1024);
}

// Nanoseconds of so many rows, for deciding on threads.
double RowsCost(const VolumeGeometry& g, int64_t rows) {
  const auto patches = static_cast<double>(rows) * static_cast<double>(g.patch());
  return patches * static_cast<double>(g.out_channels) / 30 + patches / 4;
}

// Calls `inside(element in the volume, element in the patch, n)` and `outside(element in the patch,
// n)` for the parts of the patch at an output position.
template <typename Inside, typename Outside>
void ForPatch(const VolumeGeometry& g, const Sizes3& at, Inside inside, Outside outside) {
  Sizes3 begin;
  for (int d = 0; d < 3; ++d) begin[d] = at[d] * g.stride[d] - g.pad[d];
  const int64_t c = g.in_channels, line = g.window[2] * c;
  int64_t to = 0;
  for (int64_t kz = 0; kz < g.window[0]; ++kz) {
    const int64_t z = begin[0] + kz * g.dilation[0];
    for (int64_t ky = 0; ky < g.window[1]; ++ky, to += line) {
      const int64_t y = begin[1] + ky * g.dilation[1];
      if (z < 0 || z >= g.in[0] || y < 0 || y >= g.in[1]) {
        outside(to, line);
        continue;
      }
      const int64_t from = (z * g.in[1] + y) * g.in[2];
      if (g.dilation[2] == 1) {
        const int64_t first = std::clamp<int64_t>(-begin[2], 0, g.window[2]);
        const int64_t last = std::clamp<int64_t>(g.in[2] - begin[2], first, g.window[2]);
        outside(to, first * c);
        if (last > first) {
          inside((from + begin[2] + first) * c, to + first * c, (last - first) * c);
        }
        outside(to + last * c, (g.window[2] - last) * c);
        continue;
      }
      for (int64_t kx = 0; kx < g.window[2]; ++kx) {
        const int64_t x = begin[2] + kx * g.dilation[2];
        if (x < 0 || x >= g.in[2]) {
          outside(to + kx * c, c);
        } else {
          inside((from + x) * c, to + kx * c, c);
        }
      }
    }
  }
}

// Calls f(row, volume, position) for `rows` output positions from `first` on.
template <typename Function>
void ForRowsOf(const VolumeGeometry& g, int64_t first, int64_t rows, Function f) {
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = first + r;
    Sizes3 at;
    for (int d = 2; d >= 0; --d) {
      at[d] = rest % g.out[d];
      rest /= g.out[d];
    }
    f(r, rest, at);
  }
}

template <typename F>
void Gather(const VolumeGeometry& g, const F* in, int64_t first, int64_t rows, F* patches) {
  ForRowsOf(g, first, rows, [&](int64_t r, int64_t volume, const Sizes3& at) {
    const F* from = in + volume * g.in_volume();
    F* row = patches + r * g.patch();
    ForPatch(
        g, at,
        [&](int64_t element, int64_t to, int64_t n) { std::copy_n(from + element, n, row + to); },
        [&](int64_t to, int64_t n) { std::fill_n(row + to, n, F(0)); });
  });
}

// Adds rows to where they were gathered from. All are of the volume at `in_grad`.
template <typename F>
void Scatter(const VolumeGeometry& g, const F* patches, int64_t first, int64_t rows, F* in_grad) {
  ForRowsOf(g, first, rows, [&](int64_t r, int64_t, const Sizes3& at) {
    const F* row = patches + r * g.patch();
    ForPatch(
        g, at,
        [&](int64_t element, int64_t from, int64_t n) {
          for (int64_t i = 0; i < n; ++i) in_grad[element + i] += row[from + i];
        },
        [](int64_t, int64_t) {});
  });
}

// With strides of 1 the gradient by the input is a convolution too: of the output's gradient with
// the filter turned by half a turn, inputs and outputs exchanged.
VolumeGeometry TurnGeometry(const VolumeGeometry& g) {
  VolumeGeometry t = g;
  std::swap(t.in, t.out);
  std::swap(t.in_channels, t.out_channels);
  for (int d = 0; d < 3; ++d) t.pad[d] = (g.window[d] - 1) * g.dilation[d] - g.pad[d];
  return t;
}
template <typename F>
void TurnFilter(const VolumeGeometry& g, const F* filter, F* turned) {
  const int64_t taps = Product(g.window), in = g.in_channels, out = g.out_channels;
  for (int64_t t = 0; t < taps; ++t) {
    const F* from = filter + (taps - 1 - t) * in * out;
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) turned[(t * out + o) * in + i] = from[i * out + o];
    }
  }
}

template <typename F>
void VolumeByInput(const VolumeGeometry& g, int64_t volume, const F* out_grad, const F* filter,
                   F* in_grad, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = g.out_channels, rows = Product(g.out);
  std::fill_n(in_grad, g.in_volume(), F(0));
  F* patches = scratch.Get<F>(tile * k);
  if (patches == nullptr) return;
  for (int64_t r = 0; r < rows; r += tile) {
    const int64_t count = std::min(tile, rows - r), first = volume * rows + r;
    Gemm<F>(count, k, n, RowMajor(out_grad + first * n, n), Transposed(filter, n), patches, k);
    Scatter(g, patches, first, count, in_grad);
  }
}

// Sum of patch^T * gradient over positions [begin, end).
template <typename F>
void BlockByFilter(const VolumeGeometry& g, const F* in, const F* out_grad, int64_t begin,
                   int64_t end, F* sums, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = g.out_channels;
  F* patches = scratch.Get<F>(tile * k);
  if (patches == nullptr) return;
  for (int64_t r = begin; r < end; r += tile) {
    const int64_t count = std::min(tile, end - r);
    Gather(g, in, r, count, patches);
    Gemm<F>(k, n, count, Transposed(patches, k), RowMajor(out_grad + r * n, n), sums, n,
            r == begin ? GemmInto::kReplace : GemmInto::kAdd);
  }
}

}  // namespace

template <typename F>
absl::Status Convolve(KernelContext& context, const VolumeGeometry& g, const F* in, const F* filter,
                      F* out) {
  const int64_t tile = TileRows(g), k = g.patch(), n = g.out_channels;
  const int64_t tiles = (g.positions() + tile - 1) / tile;
  LoopScratch scratch;
  context.ParallelFor(tiles, RowsCost(g, tile), [&](int64_t begin, int64_t end) {
    F* patches = scratch.Get<F>(tile * k);
    if (patches == nullptr) return;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * tile, count = std::min(tile, g.positions() - first);
      Gather(g, in, first, count, patches);
      Gemm<F>(count, n, k, RowMajor(patches, k), RowMajor(filter, n), out + first * n, n);
    }
  });
  return scratch.status();
}

template <typename F>
absl::Status ConvolveByInput(KernelContext& context, const VolumeGeometry& g, const F* out_grad,
                             const F* filter, F* in_grad) {
  if (g.stride == Sizes3{1, 1, 1}) {
    SLUICE_ASSIGN_OR_RETURN(
        Tensor turned,
        context.AllocateTemp(kDataTypeOf<F>, TensorShape({g.patch(), g.out_channels})));
    TurnFilter(g, filter, turned.data<F>());
    return Convolve<F>(context, TurnGeometry(g), out_grad, turned.data<F>(), in_grad);
  }
  LoopScratch scratch;
  context.ParallelFor(g.batch, RowsCost(g, Product(g.out)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      VolumeByInput(g, i, out_grad, filter, in_grad + i * g.in_volume(), scratch);
    }
  });
  return scratch.status();
}

template <typename F>
absl::Status ConvolveByFilter(KernelContext& context, const VolumeGeometry& g, const F* in,
                              const F* out_grad, F* filter_grad) {
  const int64_t size = g.patch() * g.out_channels;
  if (g.positions() == 0) {
    std::fill_n(filter_grad, size, F(0));
    return absl::OkStatus();
  }
  // Sums over parts of the positions are made apart, and then added in order.
  constexpr int64_t kElementsMax = 8 << 20;
  const int64_t fit = std::clamp<int64_t>(kElementsMax / size, 1, 16);
  const int64_t blocks = std::clamp<int64_t>(g.positions() / 1024, 1, fit);
  const int64_t rows = (g.positions() + blocks - 1) / blocks;
  Tensor partial;
  F* others = nullptr;  // the sums of all blocks but the first
  if (blocks > 1) {
    SLUICE_ASSIGN_OR_RETURN(partial,
                            context.AllocateTemp(kDataTypeOf<F>, TensorShape({blocks - 1, size})));
    others = partial.data<F>();
    std::fill_n(others, (blocks - 1) * size, F(0));
  }
  LoopScratch scratch;
  context.ParallelFor(blocks, RowsCost(g, rows), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      BlockByFilter(g, in, out_grad, b * rows, std::min((b + 1) * rows, g.positions()),
                    b == 0 ? filter_grad : others + (b - 1) * size, scratch);
    }
  });
  SLUICE_RETURN_IF_ERROR(scratch.status());
  for (int64_t b = 1; b < blocks; ++b) {
    AddTo(filter_grad, others + (b - 1) * size, size);
  }
  return absl::OkStatus();
}

#define SLUICE_INSTANTIATE(F)                                                                      \
  template absl::Status Convolve(KernelContext&, const VolumeGeometry&, const F*, const F*, F*);   \
  template absl::Status ConvolveByInput(KernelContext&, const VolumeGeometry&, const F*, const F*, \
                                        F*);                                                       \
  template absl::Status ConvolveByFilter(KernelContext&, const VolumeGeometry&, const F*,          \
                                         const F*, F*)
SLUICE_INSTANTIATE(float);
SLUICE_INSTANTIATE(double);
SLUICE_INSTANTIATE(int32_t);
#undef SLUICE_INSTANTIATE

}  // namespace sluice
