// The trace of a step: TensorFlow's StepStats as C++ values.
//
// Thread safety: StepStats is a value. All threads of a step may call StatsCollector::OnNode.
#ifndef SLUICE_EXECUTOR_TRACE_STEP_STATS_H_
#define SLUICE_EXECUTOR_TRACE_STEP_STATS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "executor/step/step.h"
#include "graph/mutex.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"

namespace sluice {

struct NodeOutputStats {
  int slot = 0;
  DataType dtype = DT_INVALID;
  TensorShape shape;
  int64_t bytes = 0;
};

struct NodeExecStats {
  std::string node_name;
  std::string timeline_label;   // "<name> = <Op>(<inputs>)"
  int64_t all_start_nanos = 0;  // wall clock, since 1970
  int64_t op_start_rel_nanos = 0;
  int64_t op_end_rel_nanos = 0;
  int64_t all_end_rel_nanos = 0;
  int64_t scheduled_nanos = 0;
  uint32_t thread_id = 0;
  std::vector<NodeOutputStats> output;
};

struct DeviceStepStats {
  std::string device;
  std::vector<NodeExecStats> node_stats;  // sorted by start
};

struct StepStats {
  std::vector<DeviceStepStats> dev_stats;
};

class StatsCollector final : public NodeObserver {
 public:
  // `devices` are the names by PlanNode::device.
  explicit StatsCollector(std::vector<std::string> devices);
  absl::Status OnNode(const NodeRun& run) override;
  // Called after the step has ended.
  StepStats Take();

 private:
  const int64_t wall_minus_steady_ns_;
  Mutex mutex_;
  StepStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_STEP_STATS_H_
