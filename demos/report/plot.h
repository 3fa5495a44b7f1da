// Draws pictures of a training run by gnuplot, as SVG files for any browser.
//
// Thread safety: several threads may draw different files.
#ifndef SLUICE_DEMOS_REPORT_PLOT_H_
#define SLUICE_DEMOS_REPORT_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace sluice::demos {

// A curve and the axis that its values belong to.
struct Panel {
  std::string y_label;    // with the unit: "accuracy (%)"
  std::string curve;      // its name in the legend
  std::vector<double> x;  // ascending
  std::vector<double> y;  // as many as x; infinities and NaNs are left out
};

// The gnuplot commands for panels one above the other, with the same x axis. Panels without
// points are left out.
std::string CurvesPlot(const std::string& title, const std::string& x_label,
                       const std::vector<Panel>& panels);

// The gnuplot commands for counts[truth][prediction]: cells with their numbers, shaded by their
// share of the row.
std::string ConfusionPlot(const std::string& title, const std::vector<std::string>& classes,
                          const std::vector<std::vector<int64_t>>& counts);

// Writes `commands` to <path>.gnuplot and lets gnuplot draw <path>.svg.
//
// FAILED_PRECONDITION, with the commands to run, if gnuplot is not installed. UNAVAILABLE if the
// file cannot be written. INTERNAL if gnuplot fails; its own message is on stderr.
absl::Status Draw(const std::string& path, const std::string& commands);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPORT_PLOT_H_
