#include "distributed/master/task_clock.h"

#include <algorithm>

namespace sluice {

void MoveBetween(int64_t call_nanos, int64_t answer_nanos, StepStats* stats) {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const DeviceStepStats& device : stats->dev_stats) {
    for (const NodeExecStats& node : device.node_stats) {
      begin = std::min(begin, node.all_start_nanos);
      end = std::max(end, node.all_start_nanos + node.all_end_rel_nanos);
    }
  }
  if (begin > end || (begin >= call_nanos && end <= answer_nanos)) return;
  const int64_t spare = (answer_nanos - call_nanos) - (end - begin);
  const int64_t move = call_nanos + std::max<int64_t>(spare, 0) / 2 - begin;
  for (DeviceStepStats& device : stats->dev_stats) {
    for (NodeExecStats& node : device.node_stats) {
      node.all_start_nanos += move;
      if (node.scheduled_nanos != 0) node.scheduled_nanos += move;
    }
  }
}

}  // namespace sluice
