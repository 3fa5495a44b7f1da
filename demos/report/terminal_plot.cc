#include "demos/report/terminal_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sluice::demos {
namespace {

constexpr int kDotColumns = 2, kDotRows = 4;  // of a character
// The bits of a character's dots, by row and column (Unicode's block "Braille Patterns").
constexpr uint8_t kDots[kDotRows][kDotColumns] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};

// UTF-8 of U+2800 + dots.
std::string Braille(uint8_t dots) {
  return {'\xe2', static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
}

// The mean of the finite values that fall on each of `columns` equal parts of the x axis; NaN for
// parts without values.
std::vector<double> Means(const Panel& panel, int columns) {
  std::vector<double> sums(columns), counts(columns);
  const double first = panel.x.front(), width = panel.x.back() - first;
  for (size_t i = 0; i < panel.x.size() && i < panel.y.size(); ++i) {
    if (!std::isfinite(panel.y[i])) continue;
    const double share = width > 0 ? (panel.x[i] - first) / width : 0;
    const int column = std::min(static_cast<int>(share * columns), columns - 1);
    sums[column] += panel.y[i];
    ++counts[column];
  }
  for (int i = 0; i < columns; ++i) sums[i] = counts[i] > 0 ? sums[i] / counts[i] : NAN;
  return sums;
}

}  // namespace

std::string TerminalPlot(const Panel& panel, int columns, int rows) {
  if (panel.x.empty()) return "";
  const std::vector<double> means = Means(panel, columns * kDotColumns);
  double low = INFINITY, high = -INFINITY;
  for (const double mean : means) {
    if (std::isnan(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  if (low > high) return "";
  std::vector<uint8_t> cells(static_cast<size_t>(columns) * rows);
  const int dot_rows = rows * kDotRows;
  for (int x = 0; x < columns * kDotColumns; ++x) {
    if (std::isnan(means[x])) continue;
    const double share = high > low ? (high - means[x]) / (high - low) : 0.5;
    const int y = std::min(static_cast<int>(share * dot_rows), dot_rows - 1);
    cells[y / kDotRows * columns + x / kDotColumns] |= kDots[y % kDotRows][x % kDotColumns];
  }
  std::string text;
  for (int row = 0; row < rows; ++row) {
    const std::string label = row == 0          ? fmt::format("{:.4g}", high)
                              : row == rows - 1 ? fmt::format("{:.4g}", low)
                                                : "";
    text += fmt::format("{:>8} ", label);
    for (int column = 0; column < columns; ++column) text += Braille(cells[row * columns + column]);
    text += '\n';
  }
  return text + fmt::format("{:>8} {}, steps {:.0f} to {:.0f}\n", "", panel.curve, panel.x.front(),
                            panel.x.back());
}

}  // namespace sluice::demos
