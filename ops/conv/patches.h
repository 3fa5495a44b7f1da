// Gathers the elements under a filter into rows of a matrix, and scatters rows back.
#ifndef SLUICE_OPS_CONV_PATCHES_H_
#define SLUICE_OPS_CONV_PATCHES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "absl/status/status.h"
#include "graph/strings.h"
#include "ops/conv/conv_geometry.h"
#include "ops/loops/wrapping.h"

namespace sluice {

// Rows [first, first + rows) of the patch matrix of one group: g.patch() elements an output
// position, zeros where the filter lies outside the image.
template <typename F>
void GatherPatches(const ConvGeometry& g, const F* in, int64_t group, int64_t first, int64_t rows,
                   F* patches);

// Adds the rows to the elements they were gathered from. All rows must be of image `batch` = the
// image that `in_grad` points to.
template <typename F>
void ScatterPatches(const ConvGeometry& g, const F* patches, int64_t group, int64_t first,
                    int64_t rows, F* in_grad);

// Memory of the calling thread that stays for its next use: at least n elements, 64-byte aligned.
// Null where there is none.
template <typename F>
F* ThreadScratch(int64_t n) {
  struct Free {
    void operator()(F* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  thread_local std::unique_ptr<F[], Free> memory;
  thread_local int64_t size = 0;
  if (size < n) {
    memory.reset();
    memory.reset(static_cast<F*>(
        ::operator new[](static_cast<size_t>(n) * sizeof(F), std::align_val_t(64), std::nothrow)));
    size = memory == nullptr ? 0 : n;
  }
  return memory.get();
}

// The scratch memory of the shards of one loop. A shard that gets none leaves its part undone.
class LoopScratch {
 public:
  template <typename F>
  F* Get(int64_t n) {
    F* memory = ThreadScratch<F>(n);
    if (memory == nullptr) missing_.store(n, std::memory_order_relaxed);
    return memory;
  }
  // RESOURCE_EXHAUSTED if some shard got none. Once the loop has ended.
  absl::Status status() const {
    const int64_t n = missing_.load(std::memory_order_relaxed);
    if (n == 0) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        StrCat("OOM when allocating scratch memory of ", n, " elements"));
  }

 private:
  std::atomic<int64_t> missing_{0};
};

namespace patches_internal {

// Copies of a few elements are cheaper without a call.
template <typename F>
inline void Copy(const F* from, int64_t n, F* to) {
  if (n < 16) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else {
    std::copy_n(from, n, to);
  }
}

template <typename F>
inline void Zero(F* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = F(0);
}

template <typename F>
inline void Add(const F* from, int64_t n, F* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = WrappingAdd(to[i], from[i]);
}

// The output position of a row.
struct Position {
  int64_t image, y, x;
};
inline Position PositionOf(const ConvGeometry& g, int64_t row) {
  const int64_t line = row / g.out_width;
  return {line / g.out_height, line % g.out_height, row % g.out_width};
}
inline void Next(const ConvGeometry& g, Position* p) {
  if (++p->x < g.out_width) return;
  p->x = 0;
  if (++p->y < g.out_height) return;
  p->y = 0;
  ++p->image;
}

// Calls `inside(offset in the image, offset in the row, elements)` and `outside(offset in the row,
// elements)` for the parts of one patch, neighbours together.
template <typename Inside, typename Outside>
inline void ForPatch(const ConvGeometry& g, int64_t y, int64_t x, int64_t group, Inside inside,
                     Outside outside) {
  const int64_t top = y * g.stride_height - g.pad_top, left = x * g.stride_width - g.pad_left;
  const int64_t line = g.filter_width * g.filter_channels;
  const bool is_run = g.dilation_width == 1 && g.groups == 1;
  for (int64_t ky = 0; ky < g.filter_height; ++ky) {
    const int64_t in_y = top + ky * g.dilation_height, at = ky * line;
    if (in_y < 0 || in_y >= g.in_height) {
      outside(at, line);
    } else if (is_run) {
      const int64_t begin = std::clamp<int64_t>(-left, 0, g.filter_width);
      const int64_t end = std::clamp<int64_t>(g.in_width - left, begin, g.filter_width);
      const int64_t c = g.in_channels;
      if (begin > 0) outside(at, begin * c);
      if (end > begin) {
        inside((in_y * g.in_width + left + begin) * c, at + begin * c, (end - begin) * c);
      }
      if (end < g.filter_width) outside(at + end * c, (g.filter_width - end) * c);
    } else {
      for (int64_t kx = 0; kx < g.filter_width; ++kx) {
        const int64_t in_x = left + kx * g.dilation_width, to = at + kx * g.filter_channels;
        if (in_x < 0 || in_x >= g.in_width) {
          outside(to, g.filter_channels);
        } else {
          inside((in_y * g.in_width + in_x) * g.in_channels + group * g.filter_channels, to,
                 g.filter_channels);
        }
      }
    }
  }
}

}  // namespace patches_internal

template <typename F>
void GatherPatches(const ConvGeometry& g, const F* in, int64_t group, int64_t first, int64_t rows,
                   F* patches) {
  using namespace patches_internal;
  const int64_t image_size = g.in_height * g.in_width * g.in_channels, k = g.patch();
  Position p = PositionOf(g, first);
  for (int64_t r = 0; r < rows; ++r, Next(g, &p)) {
    const F* image = in + p.image * image_size;
    F* row = patches + r * k;
    ForPatch(
        g, p.y, p.x, group,
        [&](int64_t from, int64_t to, int64_t n) { Copy(image + from, n, row + to); },
        [&](int64_t to, int64_t n) { Zero(row + to, n); });
  }
}

template <typename F>
void ScatterPatches(const ConvGeometry& g, const F* patches, int64_t group, int64_t first,
                    int64_t rows, F* in_grad) {
  using namespace patches_internal;
  const int64_t k = g.patch();
  Position p = PositionOf(g, first);
  for (int64_t r = 0; r < rows; ++r, Next(g, &p)) {
    const F* row = patches + r * k;
    ForPatch(
        g, p.y, p.x, group,
        [&](int64_t to, int64_t from, int64_t n) { Add(row + from, n, in_grad + to); },
        [](int64_t, int64_t) {});
  }
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_PATCHES_H_
