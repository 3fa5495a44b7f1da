// A step whose parts run on several tasks at the same time.
#ifndef SLUICE_EXECUTOR_SESSION_CLUSTER_STEP_H_
#define SLUICE_EXECUTOR_SESSION_CLUSTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "executor/session/local_step.h"
#include "executor/session/remote_tasks.h"
#include "executor/session/runner.h"
#include "executor/session/task_executor.h"
#include "executor/wait/cancellation.h"
#include "graph/ir/graph.h"

namespace sluice {

// Runs the local part on the caller's thread and the other parts through RemoteTasks. The first
// error of a part cancels the other parts. Run returns when all parts have ended. Its error
// combines the errors of the parts (executor/wait/error_group.h).
class ClusterStep final : public PreparedStep {
 public:
  // A part on another task, where it is registered under `handle`. `feeds` and `fetches` are
  // indices into the step's feeds and fetches.
  struct RemotePart {
    std::string task;
    std::string handle;
    std::vector<int> feeds, fetches;
    std::shared_ptr<const Graph> graph;
  };
  struct Parts {
    std::unique_ptr<LocalStep> local;  // null if nothing runs on this task
    std::vector<int> local_feeds, local_fetches;
    std::vector<RemotePart> remote;
  };

  // `closing` is cancelled when the session is closed. `executor`, `tasks` and `closing` outlive
  // the step.
  ClusterStep(TaskExecutor& executor, RemoteTasks& tasks, CancellationManager& closing, Parts parts,
              std::vector<Output> feeds, size_t num_fetches)
      : PreparedStep(std::move(feeds), num_fetches),
        executor_(executor),
        tasks_(tasks),
        closing_(closing),
        parts_(std::move(parts)) {}

  absl::Status Run(const StepCall& call) override;
  // Cancels the local part. `closing` cancels the remote parts.
  void CancelRuns(const absl::Status& status) override {
    if (parts_.local != nullptr) parts_.local->CancelRuns(status);
  }

 private:
  class RunningParts;

  TaskExecutor& executor_;
  RemoteTasks& tasks_;
  CancellationManager& closing_;
  const Parts parts_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_CLUSTER_STEP_H_
