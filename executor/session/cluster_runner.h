// Runs a session's steps on this task and, through RemoteTasks, on the other tasks of a cluster.
#ifndef SLUICE_EXECUTOR_SESSION_CLUSTER_RUNNER_H_
#define SLUICE_EXECUTOR_SESSION_CLUSTER_RUNNER_H_

#include <memory>
#include <string_view>

#include "executor/session/local_runner.h"
#include "executor/session/remote_tasks.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class ClusterRunner final : public LocalRunner {
 public:
  // `tasks` outlives the runner.
  ClusterRunner(Graph& graph, TaskExecutor& executor, RemoteTasks& tasks);
  void Close() override { closing_.StartCancel(); }

 private:
  absl::StatusOr<std::unique_ptr<PreparedStep>> PreparePlaced(std::shared_ptr<Graph> graph,
                                                              const StepRequest& request,
                                                              const PassOptions& passes,
                                                              FeedShapes shapes) override;
  absl::StatusOr<std::unique_ptr<PreparedStep>> PrepareParts(const Graph& graph,
                                                             const StepRequest& request);
  std::string_view this_task() const;

  RemoteTasks& tasks_;
  CancellationManager closing_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_CLUSTER_RUNNER_H_
