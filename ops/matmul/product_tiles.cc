#include "ops/matmul/product_tiles.h"

#include <thread>

#include "ops/loops/add_to.h"

namespace sluice {
namespace {

constexpr int64_t kOfSecondCache = 600'000;  // floats in a second-level cache of common machines
// The largest B that fits in the second-level cache of every core together with other data.
constexpr int64_t kOfEachCache = kOfSecondCache / 4;
constexpr int64_t kFewRows = 16;  // tiles with fewer rows take too long per row

// Cuts a product into tiles of whole panels, one for each thread that speeds it up.
Cut CutOfPanels(int64_t m, int64_t n, double flops) {
  const auto most = std::clamp<int64_t>(static_cast<int64_t>(flops / 2e6), 1, MachineCores());
  return m > n ? Cut{TileOf(m, most, kPackedColumns), n} : Cut{m, TileOf(n, most, kPackedColumns)};
}

}  // namespace

int64_t MachineCores() {
  static const int64_t cores = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  return cores;
}

Cut CutOfPacked(int64_t m, int64_t n, int64_t k) {
  return CutOfPanels(
      m, n, 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
}

// Each call of Gemm packs both operands. So this usually cuts only the larger side, into as many
// tiles as the cores of this machine require. The sizes of tiles are multiples of the libraries'
// block sizes.
Cut CutOfFloats(const Layout& a, int64_t n, int64_t k, MatrixView<float> b) {
  constexpr int64_t kLarge = 2048, kRowGrain = 8, kColumnGrain = 32, kMost = 16;
  const int64_t m = a.rows, cores = MachineCores();
  // Half a vector of columns takes as long as a whole one, and a product with few rows takes as
  // long as it takes to read B.
  const double flops = 2.0 * static_cast<double>(std::max(m, kRowsAtLeast)) *
                       static_cast<double>(n >= 8 ? std::max<int64_t>(n, 16) : n) *
                       static_cast<double>(k);
  const auto tiles = [&](int64_t enough) {
    const int64_t most = std::min(std::max(enough, 2 * cores), kMost);
    return std::clamp<int64_t>(static_cast<int64_t>(flops / 1e6), 1, most);
  };
  if (GemmIsSplit(m, n, k)) return CutOfPanels(m, n, flops);
  // Cuts products of recurrent cells by rows, as elementwise loops are cut. So each core reads rows
  // that it has computed itself, and keeps all of B in its second-level cache.
  const int64_t row_tiles = std::min(m / kFewRows, tiles(kMost));
  if (m < n && !a.transposed && row_tiles >= cores && k * n <= kOfEachCache) {
    return {TileOf(m, row_tiles, kRowGrain), n};
  }
  if (GemmTransposes(m, n, k, b)) {
    // A cut by rows packs each row once. A cut by columns would pack all rows again for each tile.
    return m > kFlatRows ? Cut{TileOf(m, tiles(kMost), 32), n} : Cut{m, TileOf(n, tiles(4), 32)};
  }
  if (m >= kLarge && n >= kLarge) {
    const int64_t parts = cores <= 2 ? 2 : 4;
    return {TileOf(m, parts, kRowGrain), TileOf(n, parts, kColumnGrain)};
  }
  if (m >= n) {
    if (GemmTransposes(64, n, k, b)) return {64, n};
    // Each tile packs B, which is slow if B is transposed or does not fit in the cache.
    const bool is_packed_with_pains = k * n > kOfSecondCache || b.column_step != 1;
    return {TileOf(m, tiles(is_packed_with_pains ? 4 : 8), kRowGrain), n};
  }
  return {m, TileOf(n, tiles(n / 128), kColumnGrain)};
}

int64_t DepthParts(const Products& p) {
  const int64_t m = p.a.rows, n = p.b.columns, k = p.a.columns, cores = MachineCores();
  if (p.count() != 1 || p.packed || p.a.transposed || p.b.transposed) return 1;
  if (m < kFewRows || m >= n || k * n <= kOfEachCache || k < 2 * m * cores) return 1;
  return GemmIsSplit(m, n, k) ? 1 : cores;
}

absl::Status MultiplyByDepth(KernelContext& context, const Products& p, const float* a,
                             const float* b, int64_t parts, float* c) {
  const int64_t m = p.a.rows, n = p.b.columns, k = p.a.columns;
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make({parts - 1, m, n}));
  SLUICE_ASSIGN_OR_RETURN(Tensor others, context.AllocateTemp(DT_FLOAT, shape));
  float* const sums = others.data<float>();
  const MatrixView<float> va = ViewOf(a + p.a_starts[0], p.a), vb = ViewOf(b + p.b_starts[0], p.b);
  const double cost = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
                      static_cast<double>(k / parts) / kFlopsPerNs<float>;
  context.ParallelFor(parts, cost, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t first = k * part / parts, depth = k * (part + 1) / parts - first;
      float* const to = part == 0 ? c : sums + (part - 1) * m * n;
      Gemm<float>(m, n, depth, va.FromColumn(first), vb.FromRow(first), to, n);
    }
  });
  context.ParallelFor(m, 0.1 * static_cast<double>(parts * n), [&](int64_t begin, int64_t end) {
    for (int64_t part = 1; part < parts; ++part) {
      AddTo(c + begin * n, sums + ((part - 1) * m + begin) * n, (end - begin) * n);
    }
  });
  return absl::OkStatus();
}

}  // namespace sluice
