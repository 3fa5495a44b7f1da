// What the chief does when a replica is lost, as the cluster tells it, while updates need it.
//
//   SyncReplicasOptions options = {.replicas_to_aggregate = 4,
//                                  .on_lost_replica = OnLostReplica::kShrink,
//                                  .watch = …};   // as demos/tasks/task.cc does by Server::Watch
//
// The chief's hook (sync_replicas_hook.h) does it, in a thread of the session's coordinator. A
// replica that was never there is not lost: it is waited for. One that has left is not, either:
// others compute in its place (SyncReplicasOptions::when_one_ends).
#ifndef SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_
#define SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sluice {

enum class OnLostReplica {
  kWait,    // until it comes back; the stall report names it
  kShrink,  // an update has fewer gradients, and fewer tokens follow, until it comes back
  kFail,    // training ends with FAILED_PRECONDITION, which names it
};
// "wait", "shrink" or "fail".
absl::StatusOr<OnLostReplica> ParseOnLostReplica(const std::string& text);

struct ReplicaNews {
  enum State {
    kThere,
    kLeft,  // it ended as it should
    kLost,  // it has died, hangs, or is cut off; nothing new where it had left
  };
  int replica;
  State state;
  std::string who;  // "/job:worker/replica:0/task:3"
  std::string why;  // of kLost
};
// Calls `hear` from any thread, with who is there and with every change, until what it returns is
// let go.
using ReplicaWatch =
    std::function<std::shared_ptr<void>(std::function<void(const ReplicaNews&)> hear)>;

// Who is lost, and the loop that acts on it.
//
// Thread safety: all methods from any thread; one calls Run at a time. Blocking: Run alone.
class LostReplicas {
 public:
  // Makes updates fit so many replicas; `one_was_lost` since the last call: what it held, such as a
  // token, is lost with it.
  using Resize = std::function<absl::Status(int replicas, bool one_was_lost)>;

  // `name`: of the optimizer, for messages.
  LostReplicas(std::string name, OnLostReplica action, int replicas)
      : name_(std::move(name)), action_(action), replicas_(replicas) {}
  // No Hear and no Run is under way.
  ~LostReplicas();
  LostReplicas(const LostReplicas&) = delete;
  LostReplicas& operator=(const LostReplicas&) = delete;

  void Hear(const ReplicaNews& news);
  // As many as updates fit by now; 0 before the first resize.
  int num_fit() const;
  // Before each Run: nothing that replicas hold now is missed.
  void Start();
  // Acts until Stop. kShrink: calls `resize` at once and whenever replicas are lost or come back;
  // its first error is Run's. kFail: ends with FAILED_PRECONDITION as soon as one is lost.
  absl::Status Run(const Resize& resize);
  void Stop();

 private:
  struct Lost {
    ReplicaNews news;
    int64_t stall;  // its entry in Stalls::Global()
  };
  // The next two: lock held.
  int NumThere() const { return replicas_ - static_cast<int>(lost_.size()); }
  absl::Status Failure() const;

  const std::string name_;
  const OnLostReplica action_;
  const int replicas_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> there_;       // replicas that can be lost; guarded by mutex_
  std::map<int, Lost> lost_;  // by replica; guarded by mutex_
  int losses_ = 0;            // so many so far; guarded by mutex_
  int losses_handled_ = 0;    // guarded by mutex_
  int fit_ = 0;               // guarded by mutex_
  bool stopped_ = false;      // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SYNC_LOST_REPLICAS_H_
