// Lets the chief react when the cluster reports that a replica is lost, although updates need its
// gradients.
//
//   SyncReplicasOptions options = {.replicas_to_aggregate = 4,
//                                  .on_lost_replica = OnLostReplica::kShrink,
//                                  .watch = …};   // demos/tasks/task.cc uses Server::Watch
//
// The chief's hook (sync_replicas_hook.h) reacts in a thread of the session's coordinator. A
// replica that never started is not lost: the chief waits for it. A replica that has left is not
// lost either: the others compute in its place (SyncReplicasOptions::when_one_ends).
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
  kWait,    // updates wait until it is back; the stall report names it
  kShrink,  // until it is back, updates take fewer gradients and put fewer tokens
  kFail,    // training ends with FAILED_PRECONDITION, which names it
};
// Parses "wait", "shrink" or "fail". INVALID_ARGUMENT for other texts.
absl::StatusOr<OnLostReplica> ParseOnLostReplica(const std::string& text);

// The new state of a replica.
struct ReplicaNews {
  enum State {
    kThere,
    kLeft,  // ended normally
    kLost,  // crashed, hung, or disconnected; ignored after kLeft
  };
  int replica;
  State state;
  std::string who;  // "/job:worker/replica:0/task:3"
  std::string why;  // with kLost
};
// Subscribes to news of the replicas until the returned object is destroyed. `hear` is called from
// any thread: once for each replica that is there, and then on every change.
using ReplicaWatch =
    std::function<std::shared_ptr<void>(std::function<void(const ReplicaNews&)> hear)>;

// Knows which replicas are lost, and reacts to losses and returns in Run.
//
// Thread safety: all methods may be called from any thread; one thread at a time calls Run.
// Blocking: only Run blocks.
class LostReplicas {
 public:
  // Changes the number of gradients in an update so that `replicas` replicas suffice.
  // `one_was_lost`: a replica was lost since the last call, and with it whatever it held, such as a
  // token.
  using Resize = std::function<absl::Status(int replicas, bool one_was_lost)>;

  // `name` is the name of the optimizer, for messages.
  LostReplicas(std::string name, OnLostReplica action, int replicas)
      : name_(std::move(name)), action_(action), replicas_(replicas) {}
  // No call of Hear or Run may be in progress.
  ~LostReplicas();
  LostReplicas(const LostReplicas&) = delete;
  LostReplicas& operator=(const LostReplicas&) = delete;

  void Hear(const ReplicaNews& news);
  // The number of replicas that updates are adapted to. 0 until the first resize after Start.
  int num_fit() const;
  // Must be called before each Run. For the `one_was_lost` of `resize`, only losses after Start
  // count.
  void Start();
  // Blocks until Stop. kShrink: calls `resize` at once and whenever replicas are lost or return,
  // and returns its first error. kFail: returns FAILED_PRECONDITION as soon as a replica is lost.
  absl::Status Run(const Resize& resize);
  void Stop();

 private:
  struct Lost {
    ReplicaNews news;
    int64_t stall;  // its entry in Stalls::Global()
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
  std::set<int> there_ ABSL_GUARDED_BY(mutex_);       // present replicas, which can be lost
  std::map<int, Lost> lost_ ABSL_GUARDED_BY(mutex_);  // by replica
  int losses_ ABSL_GUARDED_BY(mutex_) = 0;            // number of losses so far
  int losses_handled_ ABSL_GUARDED_BY(mutex_) = 0;
  int fit_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_
