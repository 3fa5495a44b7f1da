// A curve drawn with text, for terminals.
//
// Thread safety: pure function.
#ifndef SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_
#define SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_

#include <string>

#include "demos/report/plot.h"

namespace sluice::demos {

// The curve in `rows` lines of `columns` Braille characters, of 2 x 4 dots each, with the largest
// and the smallest value at the left and the name below. "" without points.
std::string TerminalPlot(const Panel& panel, int columns = 60, int rows = 8);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPORT_TERMINAL_PLOT_H_
