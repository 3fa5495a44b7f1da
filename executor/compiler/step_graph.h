// Makes a step's graph from a session's graph, for one set of feeds, fetches and targets: prunes
// the graph to what the step needs, expands functions, runs the passes, and places nodes on
// devices.
#ifndef SLUICE_EXECUTOR_COMPILER_STEP_GRAPH_H_
#define SLUICE_EXECUTOR_COMPILER_STEP_GRAPH_H_

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/device/device_set.h"
#include "executor/passes/pass_options.h"
#include "executor/passes/prune.h"
#include "executor/placer/placer.h"
#include "graph/ir/graph.h"

namespace sluice {

// An attribute of nodes whose kernels call graph functions. It says whether the session allows soft
// placement (PlaceOptions::allow_soft_placement). The kernels place the nodes of these functions by
// the same rule as the session.
inline constexpr const char* kAllowSoftPlacement = "_allow_soft_placement";

// Thread safety: one thread at a time.
class StepGraphMaker {
 public:
  // Nodes may run on `devices`, which has the preferred ones first.
  StepGraphMaker(std::vector<DeviceInfo> devices, PlaceOptions placement)
      : devices_(std::move(devices)), placement_(placement) {}

  // Returns the graph of a step. `passes.keep` has the names of the targets. A stateful node gets
  // the same device in all graphs that this object makes.
  absl::StatusOr<std::unique_ptr<Graph>> Make(const Graph& graph, absl::Span<const Output> feeds,
                                              absl::Span<const Output> fetches,
                                              absl::Span<const Operation> targets,
                                              const PruneOptions& prune, const PassOptions& passes);

  const std::vector<DeviceInfo>& devices() const { return devices_; }

 private:
  absl::Status PlaceNodes(Graph& graph);

  const std::vector<DeviceInfo> devices_;
  const PlaceOptions placement_;
  std::unordered_map<std::string, std::string> stateful_devices_;  // by the node's name
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COMPILER_STEP_GRAPH_H_
