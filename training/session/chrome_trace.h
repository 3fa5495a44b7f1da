// Converts the trace of a step to JSON for chrome://tracing and Perfetto, with one process per
// device and one line per thread.
#ifndef SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
#define SLUICE_TRAINING_SESSION_CHROME_TRACE_H_

#include <string>

#include "executor/trace/step_stats.h"

namespace sluice {

std::string ChromeTrace(const StepStats& stats);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
