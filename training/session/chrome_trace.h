// Converts the trace of a step to JSON for the viewers chrome://tracing and Perfetto. They show
// each device as a process, with one row per thread. ProfilerHook writes such files.
#ifndef SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
#define SLUICE_TRAINING_SESSION_CHROME_TRACE_H_

#include <string>

#include "executor/trace/step_stats.h"

namespace sluice {

std::string ChromeTrace(const StepStats& stats);

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHROME_TRACE_H_
