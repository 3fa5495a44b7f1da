// One clock for what several hosts traced.
#ifndef SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
#define SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_

#include <cstdint>

#include "executor/trace/step_stats.h"

namespace sluice {

// What another task did was between the call that asked for it and the answer, both by this task's
// clock, in nanoseconds since 1970. Where the task's own clock says otherwise, all of it is moved:
// into the middle of that time, or so that it begins with the call where it is longer.
void MoveBetween(int64_t call_nanos, int64_t answer_nanos, StepStats* stats);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
