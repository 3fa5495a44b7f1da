// Converts StepStats to and from the Protocol Buffers message that clients and tools read.
#ifndef SLUICE_EXECUTOR_TRACE_STEP_STATS_PROTO_H_
#define SLUICE_EXECUTOR_TRACE_STEP_STATS_PROTO_H_

#include "executor/trace/step_stats.h"
#include "graph/format/proto/step_stats.pb.h"

namespace sluice {

void StepStatsToProto(const StepStats& stats, pb::StepStats* proto);
StepStats StepStatsFromProto(const pb::StepStats& proto);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_STEP_STATS_PROTO_H_
