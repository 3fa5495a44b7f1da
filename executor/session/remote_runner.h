// Runs a session's steps at a master in another process.
#ifndef SLUICE_EXECUTOR_SESSION_REMOTE_RUNNER_H_
#define SLUICE_EXECUTOR_SESSION_REMOTE_RUNNER_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "executor/session/remote_master.h"
#include "executor/session/runner.h"
#include "executor/session/task_executor.h"
#include "executor/wait/cancellation.h"

namespace sluice {

class RemoteRunner final : public Runner {
 public:
  // The graph, the executor (which has the options and the table of stalls) and the master outlive
  // the runner.
  RemoteRunner(const Graph& graph, TaskExecutor& executor, RemoteMaster& master)
      : graph_(graph), executor_(executor), master_(master) {}

  absl::StatusOr<std::unique_ptr<PreparedStep>> Prepare(const StepRequest& request,
                                                        FeedShapes shapes) override;
  absl::Status PlaceAll() override { return master_.Update(graph_); }  // the master places nodes
  absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      const std::shared_ptr<SessionState>& session, const NamedRequest& request) override;
  void Close() override;
  absl::Status Explain(absl::Status error) const override;

  // Calls `call` with a manager that is cancelled by `cancellation`, which may be null, and by
  // Close.
  absl::Status Call(
      CancellationManager* cancellation,
      absl::FunctionRef<absl::Status(RemoteMaster&, CancellationManager& of_call)> call);
  absl::Status Run(const RemoteMaster::Names& names, const StepCall& call);

 private:
  const Graph& graph_;
  TaskExecutor& executor_;
  RemoteMaster& master_;
  CancellationManager closing_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REMOTE_RUNNER_H_
