// Finds the greatest elements under the windows of a pool.
#ifndef SLUICE_OPS_POOL_GREATEST_H_
#define SLUICE_OPS_POOL_GREATEST_H_

#include <algorithm>
#include <limits>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/scratch.h"
#include "graph/status.h"
#include "ops/pool/pool_windows.h"

namespace sluice {

// For each i: best[i] = max(best[i], x[i]), and where[i] = at if x[i] was greater than best[i].
// NaNs in x are skipped.
template <typename T>
SLUICE_TARGET_CLONES void TakeGreaterAt(const T* x, int32_t at, T* best, int32_t* where,
                                        int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const bool greater = x[i] > best[i];
    best[i] = greater ? x[i] : best[i];
    where[i] = greater ? at : where[i];
  }
}

// INVALID_ARGUMENT if an image has too many pixels for ForGreatest, which numbers them with int32.
inline absl::Status CheckPixels(const WindowGeometry& g) {
  if (g.in.count() <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return InvalidArgument("images of ", g.in.height, " x ", g.in.width, " are too large");
}

// Finds the greatest element (the first one, if several are equal) of each channel in each window
// of output lines [begin, end). Calls f(o, base, i) for each greatest element, which is element i
// of the image that begins at images[base]. o is the position of the output element. Skips empty
// windows.
template <typename T, typename Function>
void ForGreatest(const KernelContext& context, const WindowGeometry& g, const T* images,
                 int64_t begin, int64_t end, const Function& f) {
  const int64_t n = g.in_channels;
  auto best = Scratch<T>(context, n);
  auto where = Scratch<int32_t>(context, n);
  ForWindows(g, begin, end, [&](int64_t output, const PoolWindow& w) {
    if (w.is_empty()) return;
    const int64_t base = w.image * g.in_image();
    const T* image = images + base;
    const int64_t start =
        (w.planes.first * g.in.height + w.rows.first) * g.in.width + w.columns.first;
    std::copy_n(image + start * n, n, best.data());
    std::fill_n(where.data(), n, static_cast<int32_t>(start));
    w.ForRuns(g, [&](int64_t first, int64_t pixels) {
      for (int64_t p = first; p < first + pixels; ++p) {
        if (p == start) continue;
        TakeGreaterAt(image + p * n, static_cast<int32_t>(p), best.data(), where.data(), n);
      }
    });
    for (int64_t i = 0; i < n; ++i) f(output * n + i, base, where[i] * n + i);
  });
}

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_GREATEST_H_
