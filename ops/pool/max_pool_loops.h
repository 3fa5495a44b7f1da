// Loops of maximum pools over channels-last images. T is a type of numbers; half and bfloat16 are
// compared as they are.
#ifndef SLUICE_OPS_POOL_MAX_POOL_LOOPS_H_
#define SLUICE_OPS_POOL_MAX_POOL_LOOPS_H_

#include <algorithm>
#include <concepts>
#include <limits>

#include "executor/cpu/prefetch.h"
#include "executor/cpu/target_clones.h"
#include "ops/pool/pool_geometry.h"

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

// Neighbouring channels that are compared at once. By hand, because the compiler makes branches of
// the comparisons.
template <std::floating_point T>
struct Lanes {
  static constexpr int64_t kCount = 32 / sizeof(T);
  typedef T Vec __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  static SLUICE_INLINE_IN_CLONES Vec& At(T* p) { return *reinterpret_cast<Vec*>(p); }
  static SLUICE_INLINE_IN_CLONES const Vec& At(const T* p) {
    return *reinterpret_cast<const Vec*>(p);
  }
};

// Windows of 2 x 2, side by side, that all lie in the image, with whole vectors of channels.
template <std::floating_point T>
bool AreQuarters(const PoolGeometry& g) {
  return g.window_height == 2 && g.window_width == 2 && g.stride_height == 2 &&
         g.stride_width == 2 && g.pad_top == 0 && g.pad_left == 0 &&
         2 * g.out_height == g.in_height && 2 * g.out_width == g.in_width &&
         g.channels % Lanes<T>::kCount == 0;
}

// One image whose windows AreQuarters: gradients go to the first greatest elements, the others get
// zeros.
template <std::floating_point T>
SLUICE_TARGET_CLONES void SendQuarters(const PoolGeometry& g, const T* image, const T* grad,
                                       T* to) {
  using L = Lanes<T>;
  const int64_t c = g.channels, line = g.in_width * c, windows = g.out_height * g.out_width;
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t at = 2 * (w / g.out_width * line + w % g.out_width * c);
    for (int64_t i = at; i < at + c; i += L::kCount, grad += L::kCount) {
      for (const int64_t below : {2 * line, 2 * line + c, 3 * line, 3 * line + c}) {
        Prefetch(image, i + below);
        Prefetch<true>(to, i + below);
      }
      const typename L::Vec x0 = L::At(image + i), x1 = L::At(image + i + c);
      const typename L::Vec x2 = L::At(image + i + line), x3 = L::At(image + i + line + c);
      const typename L::Vec zero = {}, sent = zero + L::At(grad);  // as a sum of one
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

}  // namespace sluice::max_pool

#endif  // SLUICE_OPS_POOL_MAX_POOL_LOOPS_H_
