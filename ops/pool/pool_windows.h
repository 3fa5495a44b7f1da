// Loops over the windows of pools, and over the pixels under a window. Images are channels-last.
#ifndef SLUICE_OPS_POOL_POOL_WINDOWS_H_
#define SLUICE_OPS_POOL_POOL_WINDOWS_H_

#include <cstdint>

#include "ops/conv/window.h"

namespace sluice {

// The part of one window that lies in its image.
struct PoolWindow {
  int64_t image;
  WindowGeometry::Range planes, rows, columns;

  int64_t pixels() const { return planes.size() * rows.size() * columns.size(); }
  bool is_empty() const { return planes.size() <= 0 || rows.size() <= 0 || columns.size() <= 0; }

  // Calls f(first pixel, number of pixels) for each run of contiguous pixels. Pixels are numbered
  // within the image.
  template <typename Function>
  void ForRuns(const WindowGeometry& g, const Function& f) const {
    for (int64_t z = planes.first; z < planes.last; ++z) {
      for (int64_t y = rows.first; y < rows.last; ++y) {
        f((z * g.in.height + y) * g.in.width + columns.first, columns.size());
      }
    }
  }
};

// The number of lines of outputs in one image, and in all images of the batch. A line consists of
// the outputs along the width.
inline int64_t LinesOfImage(const WindowGeometry& g) { return g.out.depth * g.out.height; }
inline int64_t LinesOf(const WindowGeometry& g) { return g.batch * LinesOfImage(g); }

// Calls f(output, window) for each output position in lines [begin, end). Lines and positions are
// numbered over all images.
template <typename Function>
void ForWindows(const WindowGeometry& g, int64_t begin, int64_t end, const Function& f) {
  for (int64_t line = begin; line < end; ++line) {
    PoolWindow w{.image = line / LinesOfImage(g)};
    w.planes = g.Inside(0, line / g.out.height % g.out.depth);
    w.rows = g.Inside(1, line % g.out.height);
    for (int64_t x = 0; x < g.out.width; ++x) {
      w.columns = g.Inside(2, x);
      f(line * g.out.width + x, w);
    }
  }
}

// The number of elements under all windows of a line of outputs. It is a double, because windows
// may be larger than any tensor.
inline double ElementsOfLine(const WindowGeometry& g) {
  double elements = static_cast<double>(g.in_channels) * static_cast<double>(g.out.width);
  for (int d = 0; d < 3; ++d) elements *= static_cast<double>(g.window[d]);
  return elements;
}

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_WINDOWS_H_
