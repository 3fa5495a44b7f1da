#include "executor/session/cluster_runner.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/partition/partition.h"
#include "executor/session/cluster_step.h"
#include "executor/session/local_step.h"
#include "graph/status.h"

namespace sluice {
namespace {

std::vector<DeviceInfo> AllDevices(const DeviceSet& here, const RemoteTasks& tasks) {
  std::vector<DeviceInfo> all = here.Describe();
  all.insert(all.end(), tasks.devices().begin(), tasks.devices().end());
  return all;
}

}  // namespace

ClusterRunner::ClusterRunner(Graph& graph, TaskExecutor& executor, RemoteTasks& tasks)
    : LocalRunner(graph, executor, AllDevices(executor.devices(), tasks)), tasks_(tasks) {}

std::string_view ClusterRunner::this_task() const {
  return TaskOf(executor_.devices().device(0).name);
}

absl::StatusOr<std::unique_ptr<PreparedStep>> ClusterRunner::PreparePlaced(
    std::shared_ptr<Graph> graph, const StepRequest& request, const PassOptions& passes,
    FeedShapes shapes) {
  const auto nodes = graph->nodes();
  const bool is_local = std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) {
    return TaskOf(node->assigned_device()) == this_task();
  });
  if (is_local) return LocalRunner::PreparePlaced(std::move(graph), request, passes, shapes);
  auto step = PrepareParts(*graph, request);
  if (!step.ok() && closing_.IsCancelled()) return ClosedError();
  return step;
}

absl::StatusOr<std::unique_ptr<PreparedStep>> ClusterRunner::PrepareParts(
    const Graph& graph, const StepRequest& request) {
  std::map<std::string, uint64_t> incarnations;
  for (const DeviceInfo& info : executor_.devices().Describe()) {
    incarnations[info.name] = info.incarnation;
  }
  std::set<std::string> others;
  for (const Node* node : graph.nodes()) others.emplace(TaskOf(node->assigned_device()));
  others.erase(std::string(this_task()));
  for (const std::string& task : others) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<DeviceInfo> joined, tasks_.Join(task, closing_));
    for (const DeviceInfo& info : joined) incarnations[info.name] = info.incarnation;
  }
  const auto incarnation = [&](const std::string& device) { return incarnations[device]; };
  using Parts = std::map<std::string, Part>;
  SLUICE_ASSIGN_OR_RETURN(Parts parts, PartitionByTask(graph, incarnation));
  ClusterStep::Parts of_step;
  for (auto& [task, part] : parts) {
    if (task == this_task()) {
      // The step's feeds are checked as a whole, not part by part.
      SLUICE_ASSIGN_OR_RETURN(of_step.local, executor_.Compile(std::move(part.graph), {}));
      of_step.local_feeds = std::move(part.feeds);
      of_step.local_fetches = std::move(part.fetches);
      continue;
    }
    ClusterStep::RemotePart remote{task, "", std::move(part.feeds), std::move(part.fetches),
                                   std::move(part.graph)};
    SLUICE_ASSIGN_OR_RETURN(remote.handle, tasks_.Register(task, *remote.graph, closing_));
    of_step.remote.push_back(std::move(remote));
  }
  return std::make_unique<ClusterStep>(executor_, tasks_, closing_, std::move(of_step),
                                       request.feeds(), request.fetches.size());
}

}  // namespace sluice
