#include "ops/conv/conv_compute.h"

#include <algorithm>
#include <type_traits>

#include "graph/status.h"
#include "ops/conv/direct_conv.h"
#include "ops/conv/patches.h"
#include "ops/conv/winograd.h"
#include "ops/loops/add_to.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

// Rows of a tile: its patches fit in half of a second-level cache.
int64_t TileRows(const ConvGeometry& g) {
  constexpr int64_t kTileElements = 48 * 1024;
  return std::clamp<int64_t>(kTileElements / g.patch() / 16 * 16, 32, 1024);
}

// Nanoseconds of a tile, for deciding on threads.
double TileCost(const ConvGeometry& g, int64_t rows) {
  const double products = static_cast<double>(rows) * static_cast<double>(g.patch()) *
                          static_cast<double>(g.group_outputs());
  return products / 30 + static_cast<double>(rows) * static_cast<double>(g.patch()) / 4;
}

// The filter that turns the gradient of the output into that of the input when strides are 1:
// turned by half a turn in space, inputs and outputs exchanged.
template <typename F>
void TurnFilter(const ConvGeometry& g, const F* filter, F* turned) {
  const int64_t taps = g.filter_height * g.filter_width;
  const int64_t in = g.filter_channels, out = g.out_channels;
  for (int64_t t = 0; t < taps; ++t) {
    const F* from = filter + (taps - 1 - t) * in * out;
    F* to = turned + t * in * out;
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) to[o * in + i] = from[i * out + o];
    }
  }
}

// Convolution of the output's gradient with the turned filter.
ConvGeometry TurnGeometry(const ConvGeometry& g) {
  ConvGeometry t = g;
  t.in_height = g.out_height;
  t.in_width = g.out_width;
  t.in_channels = t.filter_channels = g.out_channels;
  t.out_height = g.in_height;
  t.out_width = g.in_width;
  t.out_channels = g.in_channels;
  t.pad_top = (g.filter_height - 1) * g.dilation_height - g.pad_top;
  t.pad_left = (g.filter_width - 1) * g.dilation_width - g.pad_left;
  return t;
}

// One image's gradient: rows of patches' gradients, a tile at a time, added where they came from.
template <typename F>
void ImageByInput(const ConvGeometry& g, int64_t image, const F* out_grad, const F* filter,
                  F* in_grad, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = g.group_outputs();
  const int64_t rows = g.out_height * g.out_width;
  std::fill_n(in_grad, g.in_height * g.in_width * g.in_channels, F(0));
  F* patches = scratch.Get<F>(tile * k);
  if (patches == nullptr) return;
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t r = 0; r < rows; r += tile) {
      const int64_t count = std::min(tile, rows - r), first = image * rows + r;
      Gemm<F>(count, k, n, RowMajor(out_grad + first * g.out_channels + group * n, g.out_channels),
              Transposed(filter + group * n, g.out_channels), patches, k);
      ScatterPatches(g, patches, group, first, count, in_grad);
    }
  }
}

// How many sums over parts of the positions are made apart, and then added.
int64_t FilterBlocks(const ConvGeometry& g) {
  constexpr int64_t kElementsMax = 8 << 20;  // of all partial sums together
  const int64_t size = g.patch() * g.out_channels;
  const int64_t fit = std::max<int64_t>(1, kElementsMax / size);
  return std::clamp<int64_t>(g.positions() / 1024, 1, std::min<int64_t>(16, fit));
}

// Sum of patch^T * gradient over positions [begin, end).
template <typename F>
void BlockByFilter(const ConvGeometry& g, const F* in, const F* out_grad, int64_t begin,
                   int64_t end, F* sums, LoopScratch& scratch) {
  const int64_t tile = TileRows(g), k = g.patch(), n = g.group_outputs();
  F* patches = g.is_pointwise() ? nullptr : scratch.Get<F>(tile * k);
  if (patches == nullptr && !g.is_pointwise()) return;
  for (int64_t group = 0; group < g.groups; ++group) {
    for (int64_t r = begin; r < end; r += tile) {
      const int64_t count = std::min(tile, end - r);
      if (patches) GatherPatches(g, in, group, r, count, patches);
      Gemm<F>(k, n, count, Transposed(patches ? patches : in + r * k, k),
              RowMajor(out_grad + r * g.out_channels + group * n, g.out_channels), sums + group * n,
              g.out_channels, r == begin ? GemmInto::kReplace : GemmInto::kAdd);
    }
  }
}

absl::Status ForwardByWinograd(KernelContext& context, const ConvGeometry& g, const float* in,
                               const float* filter, float* out, const KeptFilter* kept) {
  const auto factors = [&](Allocator& allocator) {
    return winograd::Factors(context, allocator, g, filter);
  };
  if (kept != nullptr) {
    const Tensor* made = kept->made.Get(kept->tensor, [&] { return factors(Heap()); });
    if (made != nullptr) return winograd::Forward(context, g, in, *made, out);
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensor made, factors(*context.step().allocator));
  return winograd::Forward(context, g, in, made, out);
}

}  // namespace

template <typename F>
absl::Status ConvForward(KernelContext& context, const ConvGeometry& g, const F* in,
                         const F* filter, F* out, const KeptFilter* kept) {
  if constexpr (std::is_same_v<F, float>) {
    if (winograd::Fits(g)) return ForwardByWinograd(context, g, in, filter, out, kept);
    if (direct_conv::Fits(g)) return direct_conv::Forward(context, g, in, filter, out);
  }
  const int64_t tile = TileRows(g), k = g.patch(), n = g.group_outputs();
  const int64_t tiles = (g.positions() + tile - 1) / tile;
  const bool gathers = !g.is_pointwise();
  LoopScratch scratch;
  context.ParallelFor(tiles * g.groups, TileCost(g, tile), [&](int64_t begin, int64_t end) {
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
absl::Status ConvByInput(KernelContext& context, const ConvGeometry& g, const F* out_grad,
                         const F* filter, F* in_grad) {
  if (g.groups == 1 && g.stride_height == 1 && g.stride_width == 1) {
    SLUICE_ASSIGN_OR_RETURN(Tensor turned,
                            context.AllocateTemp(kDataTypeOf<F>, {g.patch() * g.out_channels}));
    TurnFilter(g, filter, turned.data<F>());
    return ConvForward<F>(context, TurnGeometry(g), out_grad, turned.data<F>(), in_grad);
  }
  const int64_t rows = g.out_height * g.out_width;
  const int64_t image_size = g.in_height * g.in_width * g.in_channels;
  LoopScratch scratch;
  context.ParallelFor(g.batch, TileCost(g, rows) * static_cast<double>(g.groups),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          ImageByInput(g, i, out_grad, filter, in_grad + i * image_size, scratch);
                        }
                      });
  return scratch.status();
}

template <typename F>
absl::Status ConvByFilter(KernelContext& context, const ConvGeometry& g, const F* in,
                          const F* out_grad, F* filter_grad) {
  if constexpr (std::is_same_v<F, float>) {
    if (winograd::FitsByFilter(g)) return winograd::ByFilter(context, g, in, out_grad, filter_grad);
    if (direct_conv::Fits(g)) return direct_conv::ByFilter(context, g, in, out_grad, filter_grad);
  }
  const int64_t blocks = FilterBlocks(g), size = g.patch() * g.out_channels;
  const int64_t rows = (g.positions() + blocks - 1) / blocks;
  if (g.positions() == 0) {
    std::fill_n(filter_grad, size, F(0));
    return absl::OkStatus();
  }
  Tensor partial;
  F* others = nullptr;  // the sums of all blocks but the first
  if (blocks > 1) {
    SLUICE_ASSIGN_OR_RETURN(partial, context.AllocateTemp(kDataTypeOf<F>, {blocks - 1, size}));
    others = partial.data<F>();
  }
  LoopScratch scratch;
  context.ParallelFor(
      blocks, TileCost(g, rows) * static_cast<double>(g.groups), [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          BlockByFilter(g, in, out_grad, b * rows, std::min((b + 1) * rows, g.positions()),
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

#define SLUICE_INSTANTIATE(F)                                                                     \
  template absl::Status ConvForward(KernelContext&, const ConvGeometry&, const F*, const F*, F*,  \
                                    const KeptFilter*);                                           \
  template absl::Status ConvByInput(KernelContext&, const ConvGeometry&, const F*, const F*, F*); \
  template absl::Status ConvByFilter(KernelContext&, const ConvGeometry&, const F*, const F*, F*)
SLUICE_INSTANTIATE(float);
SLUICE_INSTANTIATE(double);
SLUICE_INSTANTIATE(int32_t);
#undef SLUICE_INSTANTIATE

}  // namespace sluice
