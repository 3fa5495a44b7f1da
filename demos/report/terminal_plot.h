// Draws a curve as text, for terminals.
//
// Thread safety: pure function.
#ifndef SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_
#define SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_

#include <string>

#include "demos/report/plot.h"

namespace sluice::demos {

// The curve in `rows` lines of `columns` Braille characters, which have 2 x 4 dots each. The
// largest and the smallest value are at the left, and the name is below. "" if the panel has no
// points.
std::string TerminalPlot(const Panel& panel, int columns = 60, int rows = 8);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_
