#include "executor/trace/stats_collector.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "executor/cpu/steady_time.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// Takes the closest of three pairs of reads, because the thread may lose its core between two
// reads.
int64_t WallMinusSteady() {
  int64_t difference = 0, closest = INT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const int64_t before = SteadyNowNs();
    const int64_t wall = absl::GetCurrentTimeNanos();
    const int64_t took = SteadyNowNs() - before;
    if (took >= closest) continue;
    closest = took;
    difference = wall - before - took / 2;
  }
  return difference;
}

std::string LabelOf(const Node& node) {
  std::string label = StrCat(node.name(), " = ", node.op(), "(");
  const char* separator = "";
  for (const Output& in : node.inputs()) {
    StrAppend(&label, separator, in.index == 0 ? in.node->name() : in.name());
    separator = ", ";
  }
  for (const Node* control : node.control_inputs()) {
    StrAppend(&label, separator, "^", control->name());
    separator = ", ";
  }
  return label + ")";
}

}  // namespace

StatsCollector::StatsCollector(std::vector<std::string> devices)
    : wall_minus_steady_ns_(WallMinusSteady()) {
  for (std::string& device : devices) stats_.dev_stats.push_back({std::move(device), {}});
}

absl::Status StatsCollector::OnNode(const NodeRun& run) {
  const PlanNode& node = run.node;
  NodeExecStats stats;
  stats.node_name = node.node->name();
  stats.timeline_label = LabelOf(*node.node);
  stats.all_start_nanos = run.start_ns + wall_minus_steady_ns_;
  stats.op_end_rel_nanos = stats.all_end_rel_nanos = run.end_ns - run.start_ns;
  stats.scheduled_nanos = stats.all_start_nanos;
  stats.thread_id = static_cast<uint32_t>(syscall(SYS_gettid));
  for (int i = 0; i < node.num_outputs; ++i) {
    const Tensor& tensor = run.outputs[i].tensor;
    if (run.outputs[i].is_dead || tensor.dtype() == DT_INVALID) continue;
    stats.output.push_back(
        {i, tensor.dtype(), tensor.shape(), static_cast<int64_t>(tensor.bytes())});
  }
  ScopedLock lock(&mutex_);
  stats_.dev_stats[node.device].node_stats.push_back(std::move(stats));
  return absl::OkStatus();
}

StepStats StatsCollector::Take() {
  ScopedLock lock(&mutex_);
  for (DeviceStepStats& device : stats_.dev_stats) {
    std::sort(device.node_stats.begin(), device.node_stats.end(),
              [](const NodeExecStats& a, const NodeExecStats& b) {
                return a.all_start_nanos < b.all_start_nanos;
              });
  }
  std::erase_if(stats_.dev_stats, [](const auto& d) { return d.node_stats.empty(); });
  return std::move(stats_);
}

}  // namespace sluice
