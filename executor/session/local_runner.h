// Runs a session's steps in this process.
#ifndef SLUICE_EXECUTOR_SESSION_LOCAL_RUNNER_H_
#define SLUICE_EXECUTOR_SESSION_LOCAL_RUNNER_H_

#include <memory>
#include <vector>

#include "executor/compiler/step_graph.h"
#include "executor/session/runner.h"
#include "executor/session/task_executor.h"

namespace sluice {

class LocalRunner : public Runner {
 public:
  // The graph and the executor outlive the runner.
  LocalRunner(Graph& graph, TaskExecutor& executor)
      : LocalRunner(graph, executor, executor.devices().Describe()) {}

  absl::StatusOr<std::unique_ptr<PreparedStep>> Prepare(const StepRequest& request,
                                                        FeedShapes shapes) override;
  absl::Status PlaceAll() override;
  absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      const std::shared_ptr<SessionState>& session, const NamedRequest& request) override;
  void Close() override {}
  absl::Status Explain(absl::Status error) const override;

 protected:
  // Nodes may be placed on `devices`. The devices of this task are the first ones of this list.
  LocalRunner(Graph& graph, TaskExecutor& executor, std::vector<DeviceInfo> devices);

  // Prepares a graph that is pruned, rewritten and placed.
  virtual absl::StatusOr<std::unique_ptr<PreparedStep>> PreparePlaced(std::shared_ptr<Graph> graph,
                                                                      const StepRequest& request,
                                                                      const PassOptions& passes,
                                                                      FeedShapes shapes);

  Graph& graph_;
  TaskExecutor& executor_;

 private:
  absl::StatusOr<std::unique_ptr<PreparedStep>> PrepareWithinLimit(
      const std::shared_ptr<Graph>& graph, const StepRequest& request, const PassOptions& passes,
      const std::vector<TensorShape>& shapes);

  StepGraphMaker step_graphs_;
  bool has_warned_ = false;  // whether it has warned that the memory limit cannot be met
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_LOCAL_RUNNER_H_
