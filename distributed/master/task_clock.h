// Converts another host's trace to this host's clock.
#ifndef SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
#define SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_

#include <cstdint>

#include "executor/trace/step_stats.h"

namespace sluice {

// Shifts a trace so that it lies between the call and the response, which are times of this host's
// clock, in nanoseconds since 1970. Leaves a trace that already does. Otherwise moves it to the
// middle of that time, or, if the trace is longer, makes it begin with the call.
void MoveBetween(int64_t call_nanos, int64_t answer_nanos, StepStats* stats);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
