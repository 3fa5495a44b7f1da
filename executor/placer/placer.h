// Assigns a device to every node.
//
// Nodes that must share a device form a group. They are connected by the attribute `_class`, by
// reference edges (a variable and the ops that update it), or by resource handles. A group gets the
// first device that satisfies the requests of all its nodes. A request of a node that reads a
// resource handle, or of a fetch, is ignored if it conflicts with the other requests of the group.
// A node with an assigned device keeps this device. To avoid transfers, a fetch goes to the device
// of the fetched tensor. For the same reason, a node without inputs that is alone in its group goes
// to the device of its users, if all users have the same device and the node's request allows it.
//
// Runs after the passes, because folded constants have no requested device, and before the plan.
#ifndef SLUICE_EXECUTOR_PLACER_PLACER_H_
#define SLUICE_EXECUTOR_PLACER_PLACER_H_

#include <vector>

#include "absl/status/status.h"
#include "executor/device/device_set.h"
#include "graph/ir/graph.h"

namespace sluice {

struct PlaceOptions {
  // If no device fits a request, its device type and device number are ignored. Its job, replica
  // and task still count.
  bool allow_soft_placement = false;
  // Writes each node's device to stderr.
  bool log_device_placement = false;
};

// Sets Node::assigned_device of every node. `devices` are in order of preference. INVALID_ARGUMENT
// if no device fits: TensorFlow's message, which names the contradicting requests or the known
// devices. Linear in the graph.
absl::Status Place(Graph& graph, const std::vector<DeviceInfo>& devices,
                   const PlaceOptions& options = {});
absl::Status Place(Graph& graph, const DeviceSet& devices, const PlaceOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLACER_PLACER_H_
