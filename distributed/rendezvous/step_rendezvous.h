// The rendezvous of a step on this task, over which its Send and Recv nodes pass tensors. A tensor
// that is sent here waits until a receiver on this or another task requests it. A tensor of another
// task is fetched when it is requested.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_
#define SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "distributed/rendezvous/recent_ids.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
#include "graph/mutex.h"

namespace sluice {

// Fetches the tensor with this key of a step from `task`, and calls `done` with it or with an
// error.
using RemoteReceive =
    std::function<void(const std::string& task, int64_t step_id, const std::string& key,
                       CancellationManager* cancellation, Rendezvous::Done done)>;

// The name of this task in a session's cluster, and the function that receives tensors from the
// other tasks of this cluster.
struct TaskView {
  std::string task;
  RemoteReceive receive;
};

class StepRendezvous final : public Rendezvous,
                             public std::enable_shared_from_this<StepRendezvous> {
 public:
  StepRendezvous(int64_t step_id, std::shared_ptr<const TaskView> view)
      : step_id_(step_id), view_(std::move(view)) {}

  void set_view(std::shared_ptr<const TaskView> view);

  absl::Status Send(const std::string& key, Tensor value, bool is_dead) override {
    return local_.Send(key, std::move(value), is_dead);
  }
  // Receives a tensor from the task that the key names as its sender, which may be this task.
  void RecvAsync(const std::string& key, CancellationManager* cancellation, Done done) override;
  // Receives a tensor that this task sends. To be used for the requests of other tasks.
  void RecvLocalAsync(const std::string& key, CancellationManager* cancellation, Done done) {
    local_.RecvAsync(key, cancellation, std::move(done));
  }
  void StartAbort(const absl::Status& status) override;

 private:
  // Returns the reason of the abort, or `status` if there was none.
  absl::Status AbortedOr(absl::Status status);

  const int64_t step_id_;
  LocalRendezvous local_;
  Mutex mutex_;
  std::shared_ptr<const TaskView> view_ ABSL_GUARDED_BY(mutex_);
  absl::Status aborted_ ABSL_GUARDED_BY(mutex_);
  CancellationManager receiving_;  // cancels all fetches
};

// Holds the rendezvous of all steps of a task. Each is made on first use, because another task may
// request a tensor before the step runs here. If a step never runs here, its rendezvous is removed
// with its last open call of RecvLocalAsync. So the requests of a peer take memory only while they
// are open. The table must outlive these calls.
class StepRendezvousTable {
 public:
  StepRendezvousTable(std::string task, RemoteReceive receive)
      : view_(std::make_shared<TaskView>(TaskView{std::move(task), std::move(receive)})) {}
  // Returns the rendezvous for a part of the step that runs on this task, and keeps it until End or
  // until EndStepsOf(session). `view` is the TaskView of the step's session, or null for the
  // table's own view. ABORTED if the step has ended.
  absl::StatusOr<std::shared_ptr<StepRendezvous>> Find(
      int64_t step_id, const std::shared_ptr<const TaskView>& view = nullptr,
      const std::string& session = "");
  // Receives a tensor that this task sends in the step. To be used for the requests of other tasks.
  // ABORTED if the step has ended.
  void RecvLocalAsync(int64_t step_id, const std::string& key, CancellationManager* cancellation,
                      Rendezvous::Done done);
  // Ends the step. Its open operations end with CANCELLED "Cleanup <step>".
  void End(int64_t step_id);
  // Ends the steps of a session that the session's master, which may have died, has not ended.
  void EndStepsOf(const std::string& session);
  void AbortAll(const absl::Status& status);
  int num_steps();

 private:
  struct Step {
    std::shared_ptr<StepRendezvous> rendezvous;
    std::string session;     // handle; "" if the master of the session is on this task
    bool runs_here = false;  // kept until it ends
    int receivers = 0;       // open calls of RecvLocalAsync
  };

  absl::StatusOr<Step*> FindLocked(int64_t step_id, const std::shared_ptr<const TaskView>& view)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReceiverEnds(int64_t step_id, const StepRendezvous& rendezvous);

  const std::shared_ptr<const TaskView> view_;
  Mutex mutex_;
  std::map<int64_t, Step> steps_ ABSL_GUARDED_BY(mutex_);
  RecentIds ended_{100000};
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_RENDEZVOUS_STEP_RENDEZVOUS_H_
