// A traced step as JSON for chrome://tracing and Perfetto: a process a device, a line a thread.
#ifndef SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
#define SLUICE_TRAINING_SESSION_CHROME_TRACE_H_

#include <string>

#include "executor/trace/step_stats.h"

namespace sluice {

std::string ChromeTrace(const StepStats& stats);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
