// Lets the chief of synchronous training react when a replica is lost: wait for it, continue
// without its gradients, or end the training.
//
//   SyncReplicasOptions options = {.replicas_to_aggregate = 4,
//                                  .on_lost_replica = OnLostReplica::kShrink,
//                                  .watch = …};   // demos/tasks/task.cc uses Server::Watch
//
// The chief's hook (sync_replicas_hook.h) reacts in a thread of the session's coordinator. A
// replica that never started is not lost: the chief waits for it. A replica that ended normally is
// not lost either: SyncReplicasOptions::when_one_ends says what the others do.
#ifndef SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_
#define SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/mutex.h"

namespace sluice {

// The reaction to a lost replica.
enum class OnLostReplica {
  kWait,    // updates wait until the replica is back
  kShrink,  // updates use fewer gradients until the replica is back
  kFail,    // training ends with a FAILED_PRECONDITION error that names the replica
};
// Parses "wait", "shrink" or "fail". INVALID_ARGUMENT for other texts.
absl::StatusOr<OnLostReplica> ParseOnLostReplica(const std::string& text);

// Reports the new state of a replica.
struct ReplicaNews {
  enum State {
    kThere,  // runs
    kLeft,   // ended normally
    kLost,   // crashed, hung, or disconnected; ignored unless the last state was kThere
  };
  int replica;  // its replica_id
  State state;
  std::string who;  // the task, for messages: "/job:worker/replica:0/task:3"
  std::string why;  // the reason of kLost, otherwise empty
};
// A function that subscribes `hear` to the states of the replicas until the returned object is
// destroyed. `hear` is called from any thread: once for each replica that runs, and then on every
// change.
using ReplicaWatch =
    std::function<std::shared_ptr<void>(std::function<void(const ReplicaNews&)> hear)>;

// Records which replicas are lost. Run reacts when a replica is lost or comes back.
//
// Thread safety: all methods may be called from any thread; one thread at a time calls Run.
// Blocking: only Run blocks.
class LostReplicas {
 public:
  // Changes the number of gradients in an update so that `replicas` replicas suffice. If
  // `one_was_lost`, a replica was lost since the last call. That replica may have held a token, the
  // permission to compute a gradient (token_queues.h). The function must then replace this token.
  using Resize = std::function<absl::Status(int replicas, bool one_was_lost)>;

  // `name` is the name of the optimizer, for messages. `replicas` is the number of all replicas.
  LostReplicas(std::string name, OnLostReplica action, int replicas)
      : name_(std::move(name)), action_(action), replicas_(replicas) {}
  // No call of Hear or Run may be in progress.
  ~LostReplicas();
  LostReplicas(const LostReplicas&) = delete;
  LostReplicas& operator=(const LostReplicas&) = delete;

  // Records the new state of a replica. A ReplicaWatch calls it.
  void Hear(const ReplicaNews& news);
  // The number of replicas with which Run called `resize` last. 0 before its first call since
  // Start.
  int num_fit() const;
  // Prepares the next Run, and must be called before each. Losses before Start do not set the
  // `one_was_lost` of Resize.
  void Start();
  // Blocks until Stop is called, and then returns OK. With kShrink, calls `resize` at once and
  // whenever replicas are lost or come back, and returns its first error. With kFail, returns
  // FAILED_PRECONDITION as soon as a replica is lost.
  absl::Status Run(const Resize& resize);
  void Stop();

 private:
  struct Lost {
    ReplicaNews news;
    int64_t stall;  // its entry in Stalls::Global(), a table of waits (executor/wait/stalls.h)
  };
  int NumThere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return replicas_ - static_cast<int>(lost_.size());
  }
  bool MustResize() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return action_ == OnLostReplica::kShrink && (NumThere() != fit_ || losses_ != losses_handled_);
  }
  bool MustFail() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return action_ == OnLostReplica::kFail && !lost_.empty();
  }
  absl::Status Failure() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  const OnLostReplica action_;
  const int replicas_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::set<int> there_ ABSL_GUARDED_BY(mutex_);       // replicas that run, by replica_id
  std::map<int, Lost> lost_ ABSL_GUARDED_BY(mutex_);  // lost replicas, by replica_id
  int losses_ ABSL_GUARDED_BY(mutex_) = 0;            // number of losses so far
  int losses_handled_ ABSL_GUARDED_BY(mutex_) = 0;
  int fit_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_
