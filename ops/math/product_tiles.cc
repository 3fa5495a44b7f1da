#include "ops/math/product_tiles.h"

#include <thread>

namespace sluice {
namespace {

// Of the machine, not of the session: results do not depend on its threads.
int64_t Cores() {
  static const int64_t cores = std::max<int64_t>(std::thread::hardware_concurrency(), 1);
  return cores;
}

// Tiles of whole panels, for as many threads as gain.
Cut CutOfPanels(int64_t m, int64_t n, double flops) {
  const auto most = std::clamp<int64_t>(static_cast<int64_t>(flops / 2e6), 1, Cores());
  return m > n ? Cut{TileOf(m, most, kPackedColumns), n} : Cut{m, TileOf(n, most, kPackedColumns)};
}

}  // namespace

Cut CutOfPacked(int64_t m, int64_t n, int64_t k) {
  return CutOfPanels(
      m, n, 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
}

// A call of Gemm packs both of its operands, so the smaller side stays whole, and the tiles are as
// few as this machine's cores allow. The grain is the libraries' own.
Cut CutOfFloats(int64_t m, int64_t n, int64_t k, MatrixView<float> b) {
  constexpr int64_t kLarge = 2048, kRowGrain = 8, kColumnGrain = 32, kMost = 16;
  const int64_t cores = Cores();
  // Half a vector of columns takes as long as a whole one, and few rows as long as B's memory does.
  const double flops = 2.0 * static_cast<double>(std::max(m, kRowsAtLeast)) *
                       static_cast<double>(n >= 8 ? std::max<int64_t>(n, 16) : n) *
                       static_cast<double>(k);
  const auto tiles = [&](int64_t enough) {
    const int64_t most = std::min(std::max(enough, 2 * cores), kMost);
    return std::clamp<int64_t>(static_cast<int64_t>(flops / 1e6), 1, most);
  };
  if (GemmIsSplit(m, n, k)) return CutOfPanels(m, n, flops);
  if (GemmTurns(m, n, k, b)) {
    // Rows are packed as they are cut; columns would have them packed again and again.
    return m >= 64 ? Cut{TileOf(m, tiles(kMost), 32), n} : Cut{m, TileOf(n, tiles(4), 32)};
  }
  if (m >= kLarge && n >= kLarge) {
    const int64_t parts = cores <= 2 ? 2 : 4;
    return {TileOf(m, parts, kRowGrain), TileOf(n, parts, kColumnGrain)};
  }
  if (m >= n) {
    for (const int64_t rows : {64, 32}) {
      if (GemmTurns(rows, n, k, b)) return {rows, n};
    }
    const bool overflows_cache = k * n > 600'000;  // the second, as far as machines are alike
    return {TileOf(m, tiles(overflows_cache ? 4 : 8), kRowGrain), n};
  }
  return {m, TileOf(n, tiles(n / 128), kColumnGrain)};
}

}  // namespace sluice
