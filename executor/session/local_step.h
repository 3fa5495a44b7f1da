// A step that runs on the devices of this task.
#ifndef SLUICE_EXECUTOR_SESSION_LOCAL_STEP_H_
#define SLUICE_EXECUTOR_SESSION_LOCAL_STEP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "executor/plan/plan.h"
#include "executor/session/runner.h"
#include "executor/session/task_executor.h"
#include "executor/step/step.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"

namespace sluice {

// Holds a plan and the Steps that run it. Concurrent Runs use different Steps. Idle Steps are
// reused.
class LocalStep final : public PreparedStep {
 public:
  // `executor` outlives the step.
  LocalStep(TaskExecutor& executor, std::shared_ptr<const Plan> plan, std::vector<Output> feeds);

  // Returns the summary of the step's errors (executor/step/step.h).
  absl::Status Run(const StepCall& call) override;
  // Runs one task's part of the step with this id and rendezvous. If `rendezvous` is null, a part
  // that needs a rendezvous uses one of its own.
  absl::Status RunPart(int64_t step_id, Rendezvous* rendezvous, const StepCall& call);
  void CancelRuns(const absl::Status& status) override;
  const Plan* plan() const override { return plan_.get(); }

 private:
  Step* Take();
  void Return(Step* step);

  TaskExecutor& executor_;
  const std::shared_ptr<const Plan> plan_;
  const bool sends_to_itself_;  // the user's graph has Sends or Recvs: Runs need a rendezvous
  std::atomic<Step*> spare_{nullptr};  // an idle Step that is taken without the lock
  Mutex mutex_;
  std::vector<std::unique_ptr<Step>> steps_ ABSL_GUARDED_BY(mutex_);  // all, idle or running
  std::vector<Step*> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_LOCAL_STEP_H_
