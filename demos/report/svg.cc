#include "demos/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "graph/status.h"

namespace sluice::demos {
namespace {

constexpr int kWidth = 720, kHeight = 440, kLeft = 70, kRight = 20, kTop = 40, kBottom = 55;
constexpr const char* kColors[] = {"#1f6fb4", "#d9541e", "#2f9e57", "#8a4fbf"};

struct Range {
  double low = 0;
  double high = 1;
  double At(double v, double from, double to) const {
    return from + (v - low) / (high - low) * (to - from);
  }
};

Range RangeOf(const std::vector<Curve>& curves, std::vector<double> Curve::*values) {
  Range r{INFINITY, -INFINITY};
  for (const Curve& c : curves) {
    for (double v : c.*values) {
      if (!std::isfinite(v)) continue;
      r.low = std::min(r.low, v);
      r.high = std::max(r.high, v);
    }
  }
  if (!(r.low < r.high)) return std::isfinite(r.low) ? Range{r.low - 0.5, r.low + 0.5} : Range{};
  return r;
}

std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string Text(double x, double y, const std::string& anchor, int size, const std::string& text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-size='{}'>{}</text>\n", x,
                     y, anchor, size, Escaped(text));
}

std::string Header(int width, int height, const std::string& title) {
  return fmt::format(
             "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} "
             "{1}' font-family='sans-serif' fill='#222'>\n<rect width='{0}' height='{1}' "
             "fill='white'/>\n",
             width, height) +
         Text(width / 2.0, 24, "middle", 16, title);
}

std::string Axes(const Range& xs, const Range& ys, const std::string& x_label,
                 const std::string& y_label) {
  std::string out;
  constexpr int kTicks = 5;
  for (int i = 0; i <= kTicks; ++i) {
    const double y = kHeight - kBottom - (kHeight - kTop - kBottom) * i / double{kTicks};
    const double x = kLeft + (kWidth - kLeft - kRight) * i / double{kTicks};
    out += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='#ddd'/>\n", kLeft,
                       kWidth - kRight, y, y);
    out += Text(kLeft - 8, y + 4, "end", 12,
                fmt::format("{:.3g}", ys.low + (ys.high - ys.low) * i / kTicks));
    out += Text(x, kHeight - kBottom + 18, "middle", 12,
                fmt::format("{:.6g}", std::round(xs.low + (xs.high - xs.low) * i / kTicks)));
  }
  out += Text((kLeft + kWidth - kRight) / 2.0, kHeight - 14, "middle", 13, x_label);
  out += fmt::format(
      "<text x='18' y='{0}' text-anchor='middle' font-size='13' transform='rotate(-90 18 "
      "{0})'>{1}</text>\n",
      (kTop + kHeight - kBottom) / 2, Escaped(y_label));
  return out;
}

std::string Line(const Curve& curve, const Range& xs, const Range& ys, const char* color) {
  std::string points;
  for (size_t i = 0; i < curve.x.size() && i < curve.y.size(); ++i) {
    if (!std::isfinite(curve.y[i])) continue;
    points += fmt::format("{:.1f},{:.1f} ", xs.At(curve.x[i], kLeft, kWidth - kRight),
                          ys.At(curve.y[i], kHeight - kBottom, kTop));
  }
  return fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='1.6'/>\n", points,
                     color);
}

}  // namespace

std::string CurvesSvg(const std::string& title, const std::string& x_label,
                      const std::string& y_label, const std::vector<Curve>& curves) {
  const Range xs = RangeOf(curves, &Curve::x);
  const Range ys = RangeOf(curves, &Curve::y);
  std::string svg = Header(kWidth, kHeight, title) + Axes(xs, ys, x_label, y_label);
  for (size_t i = 0; i < curves.size(); ++i) {
    const char* color = kColors[i % std::size(kColors)];
    svg += Line(curves[i], xs, ys, color);
    const double y = kTop + 14 + 18 * static_cast<double>(i);
    svg += fmt::format("<rect x='{}' y='{:.0f}' width='14' height='4' fill='{}'/>\n", kWidth - 190,
                       y - 5, color);
    svg += Text(kWidth - 170, y, "start", 13, curves[i].label);
  }
  return svg + "</svg>\n";
}

std::string ConfusionSvg(const std::string& title, const std::vector<std::string>& classes,
                         const std::vector<std::vector<int64_t>>& counts) {
  constexpr int kCell = 52, kLabels = 110;
  const int n = static_cast<int>(classes.size());
  const int size = kLabels + n * kCell + 20;
  std::string svg = Header(size, size + 40, title);
  svg += Text(kLabels + n * kCell / 2.0, size + 30, "middle", 13, "prediction");
  for (int row = 0; row < n; ++row) {
    int64_t total = 0;
    for (int64_t c : counts[row]) total += c;
    const double y = 40 + row * kCell;
    svg += Text(kLabels - 8, y + kCell / 2.0 + 4, "end", 12, classes[row]);
    svg +=
        Text(kLabels + row * kCell + kCell / 2.0, 40 + n * kCell + 18, "middle", 10, classes[row]);
    for (int col = 0; col < n; ++col) {
      const double share =
          total > 0 ? static_cast<double>(counts[row][col]) / static_cast<double>(total) : 0;
      const int shade = 255 - static_cast<int>(std::lround(200 * share));
      svg += fmt::format(
          "<rect x='{}' y='{:.0f}' width='{}' height='{}' fill='rgb({},{},255)' stroke='#eee'/>\n",
          kLabels + col * kCell, y, kCell, kCell, shade, shade);
      svg += Text(kLabels + col * kCell + kCell / 2.0, y + kCell / 2.0 + 4, "middle", 12,
                  fmt::format("{}", counts[row][col]));
    }
  }
  return svg + "</svg>\n";
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  const std::string beside = path + ".tmp";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) return absl::UnavailableError(StrCat("cannot write '", beside, "'"));
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    return absl::UnavailableError(StrCat("cannot rename '", beside, "' to '", path, "'"));
  }
  return absl::OkStatus();
}

}  // namespace sluice::demos
