// Gives every node a device.
//
// Nodes that must share one are grouped: by attr `_class`, by reference edges (a variable and the
// ops that update it) and by resource handles. A group goes to the first device that fits what all
// its nodes ask for and for which all have kernels. A node that has its place keeps it. What has no
// inputs goes where its only users are, and a fetch to what it fetches, so that nothing is sent
// without need.
//
// Before the plan, after the passes: a folded constant needs no place of its own.
#ifndef SLUICE_EXECUTOR_PLACER_PLACER_H_
#define SLUICE_EXECUTOR_PLACER_PLACER_H_

#include <vector>

#include "absl/status/status.h"
#include "executor/device/device_set.h"
#include "graph/ir/graph.h"

namespace sluice {

struct PlaceOptions {
  // Where no device fits, the type and number asked for are dropped; job, replica and task stay.
  bool allow_soft_placement = false;
  // Each node's device to stderr.
  bool log_device_placement = false;
};

// Sets Node::assigned_device. `devices` in the order in which they are preferred. INVALID_ARGUMENT
// with TensorFlow's sentence, naming the nodes whose wishes contradict or the devices that there
// are. Linear in the graph.
absl::Status Place(Graph& graph, const std::vector<DeviceInfo>& devices,
                   const PlaceOptions& options = {});
absl::Status Place(Graph& graph, const DeviceSet& devices, const PlaceOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLACER_PLACER_H_
