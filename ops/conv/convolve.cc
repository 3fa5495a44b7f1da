#include "ops/conv/convolve.h"

#include <algorithm>
#include <type_traits>

#include "graph/status.h"
#include "ops/conv/depthwise_conv.h"
#include "ops/conv/direct_conv.h"
#include "ops/conv/loop_scratch.h"
#include "ops/conv/patches.h"
#include "ops/conv/winograd.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

constexpr Space kOnes = {1, 1, 1}, kZeros = {0, 0, 0};

// Returns whether the filter has one pixel and stride 1. Then the images already are the matrix of
// patches that im2col would make.
bool IsPointwise(const WindowGeometry& g) {
  return g.window == kOnes && g.stride == kOnes && g.pad == kZeros && g.in == g.out &&
         !g.has_groups();
}

int64_t OutputsOfGroup(const WindowGeometry& g) { return g.out_channels / g.groups(); }

// Returns the number of rows of a tile, such that their patches fit in half of a second-level
// cache.
int64_t TileRows(const WindowGeometry& g) {
  constexpr int64_t kTileElements = 48 * 1024;
  return std::clamp<int64_t>(kTileElements / g.patch() / 16 * 16, 32, 1024);
}

// Returns the cost of `rows` rows of one group in nanoseconds.
double RowsCost(const WindowGeometry& g, int64_t rows) {
  const double elements = static_cast<double>(rows) * static_cast<double>(g.patch());
  return elements * static_cast<double>(OutputsOfGroup(g)) / 30 + elements / 4;
}

// Returns the geometry of the gradient with respect to the input, which is a convolution too if
// strides are 1: the gradient of the output is convolved with the filter, which is rotated by half
// a turn and has its channels exchanged.
WindowGeometry RotatedGeometry(const WindowGeometry& g) {
  WindowGeometry r = g;
  std::swap(r.in, r.out);
  r.in_channels = r.window_channels = g.out_channels;
  r.out_channels = g.in_channels;
  for (int d = 0; d < 3; ++d) r.pad[d] = (g.window[d] - 1) * g.dilation[d] - g.pad[d];
  return r;
}
template <typename F>
void RotateFilter(const WindowGeometry& g, const F* filter, F* rotated) {
  const int64_t taps = g.window.count(), in = g.window_channels, out = g.out_channels;
  for (int64_t t = 0; t < taps; ++t) {
    const F* from = filter + (taps - 1 - t) * in * out;
    F* to = rotated + t * in * out;
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) to[o * in + i] = from[i * out + o];
    }
  }
}

// Computes the gradient of one image. For each tile, a product yields the gradients of patches,
// which are added to the elements of the patches.
template <typename F>
void BackpropImage(const WindowGeometry& g, int64_t image, const F* out_grad, const F* filter,
                   F* in_grad, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = OutputsOfGroup(g), rows = g.out.count();
  std::fill_n(in_grad, g.in_image(), F(0));
  F* patches = scratch.Get<F>(tile * k);
  if (patches == nullptr) return;
  for (int64_t group = 0; group < g.groups(); ++group) {
    for (int64_t r = 0; r < rows; r += tile) {
      const int64_t count = std::min(tile, rows - r), first = image * rows + r;
      Gemm<F>(count, k, n, RowMajor(out_grad + first * g.out_channels + group * n, g.out_channels),
              Transposed(filter + group * n, g.out_channels), patches, k);
      ScatterPatches(g, patches, group, first, count, in_grad);
    }
  }
}

// Returns the number of blocks into which the positions are divided. Each block has its own sums.
int64_t FilterBlocks(const WindowGeometry& g) {
  constexpr int64_t kElementsMax = 8 << 20;  // of all partial sums
  const int64_t fit = std::max<int64_t>(1, kElementsMax / (g.patch() * g.out_channels));
  return std::clamp<int64_t>(g.positions() / 1024, 1, std::min<int64_t>(16, fit));
}

// Computes the sum of patch^T * gradient over positions [begin, end).
template <typename F>
void BackpropBlock(const WindowGeometry& g, const F* in, const F* out_grad, int64_t begin,
                   int64_t end, F* sums, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = OutputsOfGroup(g);
  const bool gathers = !IsPointwise(g);
  F* patches = gathers ? scratch.Get<F>(tile * k) : nullptr;
  if (gathers && patches == nullptr) return;
  for (int64_t group = 0; group < g.groups(); ++group) {
    for (int64_t r = begin; r < end; r += tile) {
      const int64_t count = std::min(tile, end - r);
      if (gathers) GatherPatches(g, in, group, r, count, patches);
      Gemm<F>(k, n, count, Transposed(gathers ? patches : in + r * k, k),
              RowMajor(out_grad + r * g.out_channels + group * n, g.out_channels), sums + group * n,
              g.out_channels, r == begin ? GemmInto::kReplace : GemmInto::kAdd);
    }
  }
}

absl::Status ConvolveByWinograd(KernelContext& context, const WindowGeometry& g, const float* in,
                                const float* filter, float* out, const KeptFilter* kept) {
  const auto factors = [&] {
    return winograd::Factors(context, *context.step().allocator, g, filter);
  };
  if (kept != nullptr) {
    const Tensor* made = kept->made.Get(kept->tensor, factors);
    if (made != nullptr) return winograd::Forward(context, g, in, *made, out);
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensor made, factors());
  return winograd::Forward(context, g, in, made, out);
}

}  // namespace

template <typename F>
absl::Status Convolve(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                      F* out, const KeptFilter* kept) {
  if constexpr (std::is_same_v<F, float>) {
    if (winograd::Fits(g)) return ConvolveByWinograd(context, g, in, filter, out, kept);
    if (direct_conv::Fits(g)) return direct_conv::Forward(context, g, in, filter, out);
  }
  if (depthwise_conv::Fits(g)) return depthwise_conv::Forward(context, g, in, filter, out);
  const int64_t tile = TileRows(g), k = g.patch(), n = OutputsOfGroup(g);
  const int64_t tiles = (g.positions() + tile - 1) / tile;
  const bool gathers = !IsPointwise(g);
  LoopScratch scratch;
  context.ParallelFor(tiles * g.groups(), RowsCost(g, tile), [&](int64_t begin, int64_t end) {
    F* patches = gathers ? scratch.Get<F>(tile * k) : nullptr;
    if (patches == nullptr && gathers) return;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / tiles, r = i % tiles * tile;
      const int64_t count = std::min(tile, g.positions() - r);
      if (gathers) GatherPatches(g, in, group, r, count, patches);
      Gemm<F>(count, n, k, RowMajor(gathers ? patches : in + r * k, k),
              RowMajor(filter + group * n, g.out_channels), out + r * g.out_channels + group * n,
              g.out_channels);
    }
  });
  return scratch.status();
}

template <typename F>
absl::Status ConvBackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                               const F* filter, F* in_grad) {
  if (depthwise_conv::Fits(g)) {
    return depthwise_conv::BackpropInput(context, g, out_grad, filter, in_grad);
  }
  if (!g.has_groups() && g.stride == kOnes) {
    SLUICE_ASSIGN_OR_RETURN(Tensor rotated,
                            context.AllocateTemp(kDataTypeOf<F>, {g.patch() * g.out_channels}));
    RotateFilter(g, filter, rotated.data<F>());
    return Convolve<F>(context, RotatedGeometry(g), out_grad, rotated.data<F>(), in_grad);
  }
  LoopScratch scratch;
  const double cost = RowsCost(g, g.out.count()) * static_cast<double>(g.groups());
  context.ParallelFor(g.batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      BackpropImage(g, i, out_grad, filter, in_grad + i * g.in_image(), scratch);
    }
  });
  return scratch.status();
}

template <typename F>
absl::Status ConvBackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                                const F* out_grad, F* filter_grad) {
  if constexpr (std::is_same_v<F, float>) {
    if (winograd::FitsFilter(g)) {
      return winograd::BackpropFilter(context, g, in, out_grad, filter_grad);
    }
    if (direct_conv::Fits(g)) {
      return direct_conv::BackpropFilter(context, g, in, out_grad, filter_grad);
    }
  }
  if (depthwise_conv::Fits(g)) {
    return depthwise_conv::BackpropFilter(context, g, in, out_grad, filter_grad);
  }
  const int64_t size = g.patch() * g.out_channels;
  if (g.positions() == 0) {
    std::fill_n(filter_grad, size, F(0));
    return absl::OkStatus();
  }
  const int64_t blocks = FilterBlocks(g), rows = (g.positions() + blocks - 1) / blocks;
  Tensor partial;
  F* others = nullptr;  // the sums of all blocks but the first
  if (blocks > 1) {
    SLUICE_ASSIGN_OR_RETURN(partial, context.AllocateTemp(kDataTypeOf<F>, {blocks - 1, size}));
    others = partial.data<F>();
  }
  LoopScratch scratch;
  const double cost = RowsCost(g, rows) * static_cast<double>(g.groups());
  context.ParallelFor(blocks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      BackpropBlock(g, in, out_grad, b * rows, std::min((b + 1) * rows, g.positions()),
                    b == 0 ? filter_grad : others + (b - 1) * size, scratch);
    }
  });
  SLUICE_RETURN_IF_ERROR(scratch.status());
  context.ParallelFor(size, 0.3 * static_cast<double>(blocks), [&](int64_t begin, int64_t end) {
    for (int64_t b = 1; b < blocks; ++b) {
      AddTo(filter_grad + begin, others + (b - 1) * size + begin, end - begin);
    }
  });
  return absl::OkStatus();
}

#define SLUICE_INSTANTIATE(F)                                                                   \
  template absl::Status Convolve(KernelContext&, const WindowGeometry&, const F*, const F*, F*, \
                                 const KeptFilter*);                                            \
  template absl::Status ConvBackpropInput(KernelContext&, const WindowGeometry&, const F*,      \
                                          const F*, F*);                                        \
  template absl::Status ConvBackpropFilter(KernelContext&, const WindowGeometry&, const F*,     \
                                           const F*, F*)
SLUICE_INSTANTIATE(float);
SLUICE_INSTANTIATE(double);
SLUICE_INSTANTIATE(int32_t);
#undef SLUICE_INSTANTIATE

}  // namespace sluice
