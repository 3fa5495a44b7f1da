// Divides a placed graph into one graph per task.
//
// An edge between tasks becomes a Send and a Recv, one pair per tensor and receiving task. Control
// edges send an empty tensor. Constants without control inputs, and Enters, are copied to every
// task that uses them. If a loop has nodes on several tasks, each task that receives values inside
// the loop gets a small control loop, which makes its Recvs run once per iteration. The predicate
// of the control loop comes from the task of the LoopCond.
//
// Runs after the placer and before the plan. Feeds and fetches stay on the tasks that use or
// compute them. Linear in the graph and its edges.
#ifndef SLUICE_EXECUTOR_PARTITION_PARTITION_H_
#define SLUICE_EXECUTOR_PARTITION_PARTITION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

struct Part {
  std::unique_ptr<Graph> graph;
  // By `index` of the part's _Arg and _Retval nodes: the index of the feed or fetch in the step.
  std::vector<int> feeds, fetches;
};

// Returns the task part of a full device name: "/job:ps/replica:0/task:0".
std::string_view TaskOf(std::string_view device);
// Returns the name of the device with its task replaced by `task`.
std::string DeviceOnTask(std::string_view device, std::string_view task);

// Returns the parts by task. `incarnation` returns the incarnation of a device, a number that
// changes when its task restarts. INVALID_ARGUMENT "A cross-device loop must have a pivot
// predicate: <frame>" if a loop over several tasks has no LoopCond.
absl::StatusOr<std::map<std::string, Part>> PartitionByTask(
    const Graph& graph, const std::function<uint64_t(const std::string&)>& incarnation);

// Like PartitionByTask, but with one part per device. Used for reports only, because a step runs
// all devices of a task as one part.
absl::StatusOr<std::map<std::string, Part>> PartitionByDevice(
    const Graph& graph, const std::function<uint64_t(const std::string&)>& incarnation);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PARTITION_PARTITION_H_
