// Copies images to matrices of patches (im2col), and adds patches to images. A row of a matrix is a
// patch: the elements under the convolution's window at one output position.
#ifndef SLUICE_OPS_CONV_PATCHES_H_
#define SLUICE_OPS_CONV_PATCHES_H_

#include <algorithm>
#include <cstdint>

#include "ops/conv/window.h"
#include "ops/loops/wrapping.h"

namespace sluice {

namespace patches_internal {

// Copies n elements. Uses a loop for a few elements, because a library call costs more.
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

// Divides one line of a patch into parts inside and outside the image. Calls inside(i, r, n) for a
// part of n elements that begins at element i of the image and at element r of the matrix row.
// Calls outside(r, n) for a part outside the image. The line begins at element `at` of the matrix
// row, and at column `left` (which may be negative) of an image line. `from` is the number of that
// image line's first pixel in the image.
//
// ForRun requires that the elements of neighbouring columns are contiguous: no dilation along the
// width, and no groups.
template <typename Inside, typename Outside>
inline void ForRun(const WindowGeometry& g, int64_t from, int64_t left, int64_t at,
                   const Inside& inside, const Outside& outside) {
  const int64_t c = g.in_channels;
  const int64_t begin = std::clamp<int64_t>(-left, 0, g.window.width);
  const int64_t end = std::clamp<int64_t>(g.in.width - left, begin, g.window.width);
  if (begin > 0) outside(at, begin * c);
  if (end > begin) inside((from + left + begin) * c, at + begin * c, (end - begin) * c);
  if (end < g.window.width) outside(at + end * c, (g.window.width - end) * c);
}
// ForColumns does the same as ForRun, and also supports dilations and groups.
template <typename Inside, typename Outside>
inline void ForColumns(const WindowGeometry& g, int64_t from, int64_t left, int64_t group,
                       int64_t at, const Inside& inside, const Outside& outside) {
  const int64_t c = g.window_channels;
  for (int64_t kx = 0; kx < g.window.width; ++kx, at += c) {
    const int64_t x = left + kx * g.dilation.width;
    if (x < 0 || x >= g.in.width) {
      outside(at, c);
    } else {
      inside((from + x) * g.in_channels + group * c, at, c);
    }
  }
}

// Calls `inside` and `outside`, as ForRun does, for all lines of the patch at output position `p`.
template <typename Inside, typename Outside>
inline void ForPatch(const WindowGeometry& g, const Space& p, int64_t group, const Inside& inside,
                     const Outside& outside) {
  const int64_t front = g.First(0, p.depth), top = g.First(1, p.height), left = g.First(2, p.width);
  const int64_t line = g.window.width * g.window_channels, plane = g.window.height * line;
  const bool is_run = g.dilation.width == 1 && !g.has_groups();
  int64_t at = 0;
  for (int64_t kz = 0; kz < g.window.depth; ++kz) {
    const int64_t z = front + kz * g.dilation.depth, first_line = z * g.in.height;
    if (z < 0 || z >= g.in.depth) {
      outside(at, plane);
      at += plane;
      continue;
    }
    for (int64_t ky = 0; ky < g.window.height; ++ky, at += line) {
      const int64_t y = top + ky * g.dilation.height, from = (first_line + y) * g.in.width;
      if (y < 0 || y >= g.in.height) {
        outside(at, line);
      } else if (is_run) {
        ForRun(g, from, left, at, inside, outside);
      } else {
        ForColumns(g, from, left, group, at, inside, outside);
      }
    }
  }
}

// Calls f(row, image, position) for `rows` output positions from `first` on. `row` counts from 0,
// and `position` is the position in the output of image number `image`.
template <typename Function>
inline void ForRows(const WindowGeometry& g, int64_t first, int64_t rows, Function f) {
  int64_t image = first / g.out.count(), rest = first % g.out.count();
  Space p{rest / (g.out.height * g.out.width), rest / g.out.width % g.out.height,
          rest % g.out.width};
  for (int64_t r = 0; r < rows; ++r) {
    f(r, image, p);
    if (++p.width < g.out.width) continue;
    p.width = 0;
    if (++p.height < g.out.height) continue;
    p.height = 0;
    if (++p.depth < g.out.depth) continue;
    p.depth = 0;
    ++image;
  }
}

}  // namespace patches_internal

// Writes rows [first, first + rows) of one group's matrix of patches. A row has g.patch() elements.
// Elements outside the image are zeros.
template <typename F>
void GatherPatches(const WindowGeometry& g, const F* in, int64_t group, int64_t first, int64_t rows,
                   F* patches) {
  using namespace patches_internal;
  const int64_t size = g.in_image(), k = g.patch();
  ForRows(g, first, rows, [&](int64_t r, int64_t i, const Space& p) {
    const F* image = in + i * size;
    F* row = patches + r * k;
    ForPatch(
        g, p, group, [&](int64_t from, int64_t to, int64_t n) { Copy(image + from, n, row + to); },
        [&](int64_t to, int64_t n) { Zero(row + to, n); });
  });
}

// Adds each element of `patches` to the image element that GatherPatches copies to this place. All
// rows must belong to one image. `in_grad` is the gradient with respect to this image.
template <typename F>
void ScatterPatches(const WindowGeometry& g, const F* patches, int64_t group, int64_t first,
                    int64_t rows, F* in_grad) {
  using namespace patches_internal;
  const int64_t k = g.patch();
  ForRows(g, first, rows, [&](int64_t r, int64_t, const Space& p) {
    const F* row = patches + r * k;
    ForPatch(
        g, p, group, [&](int64_t to, int64_t from, int64_t n) { Add(row + from, n, in_grad + to); },
        [](int64_t, int64_t) {});
  });
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_PATCHES_H_
