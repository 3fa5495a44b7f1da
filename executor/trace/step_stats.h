// The trace of a step: TensorFlow's StepStats as C++ values.
//
// Thread safety: plain values without locks.
#ifndef SLUICE_EXECUTOR_TRACE_STEP_STATS_H_
#define SLUICE_EXECUTOR_TRACE_STEP_STATS_H_

#include <cstdint>
#include <string>
#include <vector>

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
  // The times below that contain "rel" are relative to all_start_nanos.
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

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TRACE_STEP_STATS_H_
