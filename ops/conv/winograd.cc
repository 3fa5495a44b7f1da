#include "ops/conv/winograd.h"

#include <algorithm>

#include "graph/status.h"
#include "ops/conv/loop_scratch.h"
#include "ops/conv/winograd_tiles.h"

namespace sluice::winograd {
namespace {

// The tiling of the results of all images into tiles of `m` x `m`, for an r x r filter. Tiles are
// numbered image by image, row by row.
struct Tiling {
  WindowGeometry g;
  int64_t m, points;      // points (elements) per transformed tile
  int64_t rows, columns;  // tiles per image
  int64_t in_block;       // tiles per block, which is multiplied at a time
  int64_t count() const { return g.batch * rows * columns; }
  int64_t blocks() const { return (count() + in_block - 1) / in_block; }
  // The distance between corresponding elements of consecutive points, for tiles with `channels`
  // channels. It is one vector longer than necessary, because at a multiple of the page size all
  // points would compete for the same cache sets.
  int64_t point_step(int64_t channels) const { return in_block * channels + kLanes; }
  // The same distance for matrices with an element per pair of input and output channel:
  // transformed filters and sums of gradients.
  int64_t pair_step() const { return g.in_channels * g.out_channels + kLanes; }
};

struct Place {
  int64_t image, y, x;  // position of a tile's first result
};
SLUICE_INLINE_IN_CLONES Place PlaceOf(const Tiling& t, int64_t tile) {
  const int64_t row = tile / t.columns;
  return {row / t.rows, row % t.rows * t.m, tile % t.columns * t.m};
}

// Tiles [first, first + count).
struct TileRange {
  int64_t first, count;
};

// Transforms input tiles: to[point][tile][channel].
template <int m, int r>
SLUICE_AVX512 void TransformInput(const Tiling& t, TileRange tiles, const float* in, float* to) {
  using TileStrip = Strip<DataTimes<m + r - 1>, m>;
  const Images images{t.g.in.height, t.g.in.width, t.g.in_channels};
  const int64_t channels = images.channels, step = t.point_step(channels);
  for (int64_t i = 0, side_by_side; i < tiles.count; i += side_by_side) {
    const Place p = PlaceOf(t, tiles.first + i);
    side_by_side =
        std::min({tiles.count - i, t.columns - p.x / m, int64_t{TileStrip::kMostSquares}});
    const float* image = in + p.image * images.height * images.row_step();
    TileStrip strip(images, p.y - t.g.pad.height, p.x - t.g.pad.width, side_by_side);
    for (int64_t c = 0; c < channels; c += kLanes) {
      strip.TransformFrom(image + c, to + i * channels + c, channels, step);
    }
  }
}

// Transforms vectors [begin, end) of pairs of channels: to[point][in][out].
template <int m, int r>
SLUICE_AVX512 void TransformFilter(const Tiling& t, const float* filter, float* to, int64_t begin,
                                   int64_t end) {
  constexpr int n = m + r - 1;
  const int64_t size = t.g.in_channels * t.g.out_channels;
  for (int64_t i = begin * kLanes; i < end * kLanes; i += kLanes) {
    TransformSquare<Times<kFactor<n, r>, n, r>>(filter + i, r * size, size, to + i,
                                                n * t.pair_step(), t.pair_step());
  }
}

// to[point][tile][out] = a[point][tile][in] * b[point][in][out].
SLUICE_AVX512 void MultiplyTiles(const Tiling& t, int64_t tiles, const float* a, const float* b,
                                 float* to) {
  const int64_t in = t.g.in_channels, out = t.g.out_channels;
  for (int64_t k = 0; k < t.points; ++k) {
    Product<false>(a + k * t.point_step(in), in, 1, b + k * t.pair_step(), out, tiles, in,
                   to + k * t.point_step(out));
  }
}

// Transforms products to results.
template <int m, int r>
SLUICE_AVX512 void TransformOutput(const Tiling& t, TileRange tiles, const float* from,
                                   float* out) {
  constexpr int n = m + r - 1;
  const Images images{t.g.out.height, t.g.out.width, t.g.out_channels};
  const int64_t channels = images.channels, step = t.point_step(channels);
  for (int64_t i = 0; i < tiles.count; ++i) {
    const Place p = PlaceOf(t, tiles.first + i);
    float* image = out + p.image * images.height * images.row_step();
    Square<m> square(images, p.y, p.x);
    for (int64_t c = 0; c < channels; c += kLanes) {
      square.template TransformInto<TimesColumns<kResult<n, m>, m, n>>(from + i * channels + c,
                                                                       step, image + c);
    }
  }
}

// Transforms gradients of results to factors of input tiles: to[point][tile][out].
template <int m, int r>
SLUICE_AVX512 void TransformGradient(const Tiling& t, TileRange tiles, const float* out_grad,
                                     float* to) {
  constexpr int n = m + r - 1;
  const Images images{t.g.out.height, t.g.out.width, t.g.out_channels};
  const int64_t channels = images.channels, step = t.point_step(channels);
  for (int64_t i = 0; i < tiles.count; ++i) {
    const Place p = PlaceOf(t, tiles.first + i);
    const float* image = out_grad + p.image * images.height * images.row_step();
    Square<m> square(images, p.y, p.x);
    for (int64_t c = 0; c < channels; c += kLanes) {
      square.template TransformFrom<Times<kFactor<n, m>, n, m>>(image + c, to + i * channels + c,
                                                                step);
    }
  }
}

// sums[point][in][out] = (or +=) data[point][tile][in] * gradients[point][tile][out].
template <bool kAdd>
SLUICE_AVX512 void MultiplyGradients(const Tiling& t, int64_t tiles, const float* data,
                                     const float* gradients, float* sums) {
  const int64_t in = t.g.in_channels, out = t.g.out_channels;
  for (int64_t k = 0; k < t.points; ++k) {
    Product<kAdd>(data + k * t.point_step(in), 1, in, gradients + k * t.point_step(out), out, in,
                  tiles, sums + k * t.pair_step());
  }
}

// Adds sums[part][point][in][out] over all parts, and transforms vectors [begin, end) of pairs of
// channels to the gradient of the filter.
template <int m, int r>
SLUICE_AVX512 void TransformSums(const Tiling& t, const float* sums, int64_t parts,
                                 float* filter_grad, int64_t begin, int64_t end) {
  constexpr int n = m + r - 1;
  const int64_t size = t.g.in_channels * t.g.out_channels, step = t.pair_step();
  for (int64_t i = begin * kLanes; i < end * kLanes; i += kLanes) {
    Vec all[n * n];
    for (int k = 0; k < n * n; ++k) {
      all[k] = VecAt(sums + k * step + i);
      for (int64_t p = 1; p < parts; ++p) all[k] += VecAt(sums + (p * n * n + k) * step + i);
    }
    TransformSquare<TimesColumns<kResult<n, r>, r, n>>(
        reinterpret_cast<const float*>(all), n * kLanes, kLanes, filter_grad + i, r * size, size);
  }
}

// The loops for one filter size.
struct Loops {
  decltype(&TransformInput<4, 3>) input;
  decltype(&TransformFilter<4, 3>) filter;
  decltype(&TransformOutput<4, 3>) output;
  decltype(&TransformGradient<4, 3>) gradient;
  decltype(&TransformSums<4, 3>) sums;
};
template <int m, int r>
constexpr Loops kLoops = {TransformInput<m, r>, TransformFilter<m, r>, TransformOutput<m, r>,
                          TransformGradient<m, r>, TransformSums<m, r>};

// The number of results along each side of a tile. A transformed tile has six or eight points along
// each side.
constexpr int kTileSize = 4;
const Loops& LoopsFor(const WindowGeometry& g) {
  return g.window.height == 3 ? kLoops<kTileSize, 3> : kLoops<kTileSize, 5>;
}

// Returns the number of tiles per block, at most `most`, such that two threads share the blocks
// evenly.
int64_t BlockSize(int64_t tiles, int64_t most) {
  constexpr int64_t kRows = 4;  // products of multiples of four rows are fast
  int64_t best = most, least_work = tiles;
  const int64_t pairs = (tiles + 2 * most - 1) / (2 * most);
  for (int64_t p = pairs; p <= pairs + 1; ++p) {
    const int64_t size = (tiles + 2 * p * kRows - 1) / (2 * p * kRows) * kRows;
    if (p * size >= least_work) continue;
    best = size;
    least_work = p * size;
  }
  return best;
}

Tiling TilingOf(const WindowGeometry& g) {
  constexpr int64_t kBlockElements = 128 * 1024;  // operands and products of a block
  Tiling t{g};
  t.m = kTileSize;
  t.points = (t.m + g.window.height - 1) * (t.m + g.window.height - 1);
  t.rows = (g.out.height + t.m - 1) / t.m;
  t.columns = (g.out.width + t.m - 1) / t.m;
  const int64_t fit = kBlockElements / (t.points * (g.in_channels + g.out_channels));
  t.in_block = BlockSize(t.count(), std::clamp<int64_t>(fit / 12 * 12, 24, 96));
  return t;
}

// The cost of one vector of pairs of channels in nanoseconds.
constexpr double kFilterCost = 100;
int64_t FilterVectors(const WindowGeometry& g) { return g.in_channels * g.out_channels / kLanes; }

// Returns the cost of one block of tiles in nanoseconds.
double BlockCost(const Tiling& t) {
  const WindowGeometry& g = t.g;
  const double channels = static_cast<double>(g.in_channels + g.out_channels);
  const double products = static_cast<double>(g.in_channels) * static_cast<double>(g.out_channels);
  return static_cast<double>(t.in_block * t.points) * (products / 40 + channels / 4);
}

}  // namespace

bool FitsFilter(const WindowGeometry& g) {
  return Fits(g) && g.in_channels * g.out_channels <= 128 * 128;
}

bool Fits(const WindowGeometry& g) {
  if (!HasAvx512() || !g.is_planar() || g.has_groups()) return false;
  const bool is_known =
      g.window.height == g.window.width && (g.window.height == 3 || g.window.height == 5);
  const bool is_dense = g.stride == Space{} && g.dilation == Space{};
  const bool is_wide = g.in_channels % kLanes == 0 && g.out_channels % kLanes == 0;
  // For a small image, half of the products would be for pixels outside the image.
  return is_known && is_dense && is_wide && g.out.height >= 4 && g.out.width >= 4 &&
         g.positions() >= 64;
}

absl::StatusOr<Tensor> Factors(KernelContext& context, Allocator& allocator,
                               const WindowGeometry& g, const float* filter) {
  const Tiling t = TilingOf(g);
  const Loops& loops = LoopsFor(g);
  SLUICE_ASSIGN_OR_RETURN(Tensor factors,
                          Tensor::Allocate(allocator, DT_FLOAT, {t.points, t.pair_step()}));
  float* to = factors.data<float>();
  context.ParallelFor(FilterVectors(g), kFilterCost,
                      [&](int64_t begin, int64_t end) { loops.filter(t, filter, to, begin, end); });
  return factors;
}

absl::Status Forward(KernelContext& context, const WindowGeometry& g, const float* in,
                     const Tensor& factors, float* out) {
  const Tiling t = TilingOf(g);
  const Loops& loops = LoopsFor(g);
  const float* factor = factors.data<float>();
  const int64_t data_size = t.points * t.point_step(g.in_channels);
  const int64_t result_size = t.points * t.point_step(g.out_channels);
  LoopScratch scratch;
  context.ParallelFor(t.blocks(), BlockCost(t), [&](int64_t begin, int64_t end) {
    float* data = scratch.Get<float>(data_size + result_size);
    if (data == nullptr) return;
    float* results = data + data_size;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t first = b * t.in_block;
      const TileRange tiles{first, std::min(t.in_block, t.count() - first)};
      loops.input(t, tiles, in, data);
      MultiplyTiles(t, tiles.count, data, factor, results);
      loops.output(t, tiles, results, out);
    }
  });
  return scratch.status();
}

absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const float* in,
                            const float* out_grad, float* filter_grad) {
  constexpr int64_t kPartsMax = 4;  // each part has sums of its own
  const Tiling t = TilingOf(g);
  const Loops& loops = LoopsFor(g);
  const int64_t size = t.points * t.pair_step();
  const int64_t parts = std::min(t.blocks(), kPartsMax);
  SLUICE_ASSIGN_OR_RETURN(Tensor partial, context.AllocateTemp(DT_FLOAT, {parts, size}));
  float* sums = partial.data<float>();
  const int64_t data_size = t.points * t.point_step(g.in_channels);
  const int64_t gradient_size = t.points * t.point_step(g.out_channels);
  const double cost = BlockCost(t) * static_cast<double>(t.blocks()) / static_cast<double>(parts);
  LoopScratch scratch;
  context.ParallelFor(parts, cost, [&](int64_t begin, int64_t end) {
    float* data = scratch.Get<float>(data_size + gradient_size);
    if (data == nullptr) return;
    float* gradients = data + data_size;
    for (int64_t p = begin; p < end; ++p) {
      float* to = sums + p * size;
      const int64_t first_block = t.blocks() * p / parts;
      for (int64_t b = first_block; b < t.blocks() * (p + 1) / parts; ++b) {
        const int64_t first = b * t.in_block;
        const TileRange tiles{first, std::min(t.in_block, t.count() - first)};
        loops.input(t, tiles, in, data);
        loops.gradient(t, tiles, out_grad, gradients);
        (b == first_block ? MultiplyGradients<false>
                          : MultiplyGradients<true>)(t, tiles.count, data, gradients, to);
      }
    }
  });
  SLUICE_RETURN_IF_ERROR(scratch.status());
  context.ParallelFor(FilterVectors(g), kFilterCost, [&](int64_t begin, int64_t end) {
    loops.sums(t, sums, parts, filter_grad, begin, end);
  });
  return absl::OkStatus();
}

}  // namespace sluice::winograd
