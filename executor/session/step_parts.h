// One step whose parts run on several tasks, at the same time.
//
// The local part runs on the caller's thread, the others through RemoteTasks. The first error of a
// part cancels the others; the step ends when all have ended, wherever they are.
#ifndef SLUICE_EXECUTOR_SESSION_STEP_PARTS_H_
#define SLUICE_EXECUTOR_SESSION_STEP_PARTS_H_

#include <condition_variable>
#include <memory>
#include <mutex>

#include "absl/types/span.h"
#include "executor/session/remote_tasks.h"
#include "executor/session/session.h"
#include "executor/session/session_plan.h"
#include "executor/session/task_executor.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"

namespace sluice {

// What steps end with that the session's Close ended.
absl::Status ClosedError();

class StepParts {
 public:
  // `closing` fires when the session is closed.
  StepParts(TaskExecutor& executor, RemoteTasks& remote, SessionPlan& plan,
            CancellationManager& closing)
      : executor_(executor), remote_(remote), plan_(plan), closing_(closing) {}

  absl::Status Run(absl::Span<const Tensor* const> feeds, Tensor* fetches,
                   const RunOptions& options, RunMetadata* metadata, Rendezvous* partial_run);

 private:
  void StartRemote(size_t part, absl::Span<const Tensor* const> feeds, const RunOptions& options);
  absl::Status RunLocal(absl::Span<const Tensor* const> feeds, const RunOptions& options,
                        Rendezvous* rendezvous, RunMetadata* metadata);
  void RemoteEnded(size_t part, RemoteTasks::PartResult result);
  void Fail(const absl::Status& status);
  void MergeStats(RunMetadata* metadata);

  TaskExecutor& executor_;
  RemoteTasks& remote_;
  SessionPlan& plan_;
  CancellationManager& closing_;
  CancellationManager cancellation_;  // of all parts
  int64_t step_id_ = 0;
  Tensor* fetches_ = nullptr;

  std::mutex mutex_;
  std::condition_variable ended_;
  size_t running_ = 0;            // remote parts; guarded by mutex_
  bool is_blocked_ = false;       // the scheduler knows; guarded by mutex_
  absl::Status status_;           // guarded by mutex_
  std::vector<StepStats> stats_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_STEP_PARTS_H_
