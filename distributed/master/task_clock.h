// Converts the times of a trace that another host recorded to this host's clock.
#ifndef SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
#define SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_

#include <cstdint>

#include "executor/trace/step_stats.h"

namespace sluice {

// Shifts the times of a trace from another host so that they lie between the call that ran the
// traced part of a step and its response. `call_nanos` and `answer_nanos` are the times of the call
// and the response by this host's clock, in nanoseconds since 1970. A trace that already lies
// between them stays. Otherwise it is moved to the middle or, if it is longer than the call, to the
// call's beginning.
void MoveBetween(int64_t call_nanos, int64_t answer_nanos, StepStats* stats);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_TASK_CLOCK_H_
