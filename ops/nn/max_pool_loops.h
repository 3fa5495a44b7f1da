// Loops of maximum pools over channels-last images. T is a type of numbers; half and bfloat16 are
// compared as they are.
#ifndef SLUICE_OPS_NN_MAX_POOL_LOOPS_H_
#define SLUICE_OPS_NN_MAX_POOL_LOOPS_H_

#include <algorithm>
#include <limits>

#include "executor/kernel/target_clones.h"
#include "ops/nn/pool_geometry.h"

namespace sluice::max_pool {

// best = max(best, x), element by element; a NaN in x is passed over.
template <typename T>
SLUICE_TARGET_CLONES void TakeGreater(const T* x, T* best, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) best[i] = x[i] > best[i] ? x[i] : best[i];
}

// The same, and where[i] = at where x was greater.
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

// Rows [begin, end) of the outputs of all images.
template <typename T>
void Forward(const PoolGeometry& g, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t c = g.channels;
  for (int64_t line = begin; line < end; ++line) {
    const T* image = in + line / g.out_height * g.in_image();
    const auto rows = g.Rows(line % g.out_height);
    for (int64_t x = 0; x < g.out_width; ++x) {
      const auto columns = g.Columns(x);
      T* best = out + (line * g.out_width + x) * c;
      std::fill_n(best, c, std::numeric_limits<T>::lowest());
      for (int64_t y = rows.first; y < rows.last; ++y) {
        const T* from = image + (y * g.in_width + columns.first) * c;
        for (int64_t k = 0; k < columns.size(); ++k) TakeGreater(from + k * c, best, c);
      }
    }
  }
}

// Over channels: `channel_window` neighbours give one output.
template <typename T>
void OverChannels(int64_t window, const T* in, T* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    out[i] = *std::max_element(in + i * window, in + (i + 1) * window);
}

// Calls f(output position's offset, channel's input offset) for the first greatest element of every
// window of one image. best and where hold g.channels elements.
template <typename T, typename F>
void ForGreatest(const PoolGeometry& g, const T* image, T* best, int32_t* where, F f) {
  const int64_t c = g.channels;
  for (int64_t out_y = 0; out_y < g.out_height; ++out_y) {
    const auto rows = g.Rows(out_y);
    for (int64_t out_x = 0; out_x < g.out_width; ++out_x) {
      const auto columns = g.Columns(out_x);
      if (rows.size() <= 0 || columns.size() <= 0) continue;
      const int64_t first = rows.first * g.in_width + columns.first;
      std::copy_n(image + first * c, c, best);
      std::fill_n(where, c, static_cast<int32_t>(first));
      for (int64_t y = rows.first; y < rows.last; ++y) {
        for (int64_t x = columns.first; x < columns.last; ++x) {
          const int64_t at = y * g.in_width + x;
          if (at != first) TakeGreaterAt(image + at * c, static_cast<int32_t>(at), best, where, c);
        }
      }
      const int64_t out = (out_y * g.out_width + out_x) * c;
      for (int64_t i = 0; i < c; ++i) f(out + i, where[i] * c + i);
    }
  }
}

}  // namespace sluice::max_pool

#endif  // SLUICE_OPS_NN_MAX_POOL_LOOPS_H_
