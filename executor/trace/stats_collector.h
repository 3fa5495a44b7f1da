// Collects the trace of a step: when each node ran, and the types and shapes of its outputs.
//
// Thread safety: all threads of a step may call OnNode.
#ifndef SLUICE_EXECUTOR_TRACE_STATS_COLLECTOR_H_
#define SLUICE_EXECUTOR_TRACE_STATS_COLLECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "executor/step/step.h"
#include "executor/trace/step_stats.h"
#include "graph/mutex.h"

namespace sluice {

class StatsCollector final : public NodeObserver {
 public:
  // `devices[i]` is the name of the device of all nodes whose PlanNode::device is i.
  explicit StatsCollector(std::vector<std::string> devices);
  absl::Status OnNode(const NodeRun& run) override;
  // Returns the trace. Must be called after the step has ended.
  StepStats Take();

 private:
  const int64_t wall_minus_steady_ns_;
  Mutex mutex_;
  StepStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_STATS_COLLECTOR_H_
