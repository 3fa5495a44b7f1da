// Charts of a training run, as SVG files for any browser.
#ifndef SLUICE_DEMOS_REPORT_SVG_H_
#define SLUICE_DEMOS_REPORT_SVG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sluice::demos {

struct Curve {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;  // as many as x
};

// One panel of lines with axes and a legend.
std::string CurvesSvg(const std::string& title, const std::string& x_label,
                      const std::string& y_label, const std::vector<Curve>& curves);

// counts[truth][prediction]: cells with their numbers, shaded by their share of the row.
std::string ConfusionSvg(const std::string& title, const std::vector<std::string>& classes,
                         const std::vector<std::vector<int64_t>>& counts);

// Writes a temporary file and renames it, so that a reader never sees an incomplete file.
absl::Status WriteFile(const std::string& path, const std::string& text);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPORT_SVG_H_
