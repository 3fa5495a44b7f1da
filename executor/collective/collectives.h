// Runs the collective ops of a task (CollectiveReduce, CollectiveGather, CollectiveBcastSend, …):
// matches the calls of the members of a group, and merges their inputs.
//
// A group has a key and consists of the first `group_size` devices that call with this key, on this
// task or, with a network, on several tasks. A round merges one call of each member, all with the
// same instance key. If one session runs all members, a round consists of the calls of one step. If
// the members belong to different sessions, round n consists of the n-th call of each member. The
// inputs of this task's members are merged first, then the tasks exchange their results, and all
// members share the outcome.
//
// If a call fails (a mismatch, a cancelled step, a timeout, a lost task), all calls of its round
// end with the cause. If the members belong to different sessions, the other members also get the
// error, each once, at its present or next call. So no session continues with an update that
// another session did not make. The group is then broken: later calls join a new group. A call that
// fails because a task is lost breaks a group of one session, too.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks. `done` is called once, without a lock.
// Ownership: shared by the devices of the task and the calls in progress.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_
#define SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/collective/group_table.h"
#include "executor/collective/merge.h"
#include "executor/device/resource_manager.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/stalls.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"

namespace sluice {

enum class CollectiveKind { kReduce, kGather, kBroadcast };
enum class CollectiveAlgorithm { kAuto, kRing, kTree };

// One member's call.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kReduce;
  int group_key = 0;
  int group_size = 1;
  int instance_key = 0;
  std::string device;
  std::string node;
  std::string op;
  int64_t step_id = 0;
  std::string iteration;       // number of the loop's iteration; "" outside loops
  double timeout_seconds = 0;  // 0: no timeout
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;

  Tensor input;  // not set for members that only receive
  DataType dtype = DT_INVALID;
  TensorShape shape;  // of the result
  MergeOp merge = MergeOp::kAdd;
  FinalOp final_op = FinalOp::kId;
  bool is_source = false;

  CancellationManager* cancellation = nullptr;  // null, or outlives the call
  Stalls* stalls = nullptr;
  std::function<void(absl::StatusOr<Tensor>)> done;
};

// A task's request for a message that another task posts. `call` has the properties in which the
// calls of a round must agree (kind, type, shape and so on), as the requesting task sees them. If
// the other task's calls have other properties, the round fails, instead of waiting forever.
struct CollectiveMessage {
  int group_key = 0;
  uint64_t generation = 0;  // CollectiveGroup::generation
  GroupMember from;         // the first member of the task that posts the message
  std::string round;        // the id of the round
  std::string name;         // the name under which the message is posted
  std::string call;
};

// The connection to the other tasks of a cluster. The distributed runtime implements it.
class CollectiveNetwork {
 public:
  using Done = std::function<void(absl::StatusOr<Tensor>)>;
  virtual ~CollectiveNetwork() = default;
  // Calls GroupTable::Join on the task that is the leader of the cluster.
  virtual void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
                    GroupTable::Done done) = 0;
  // Requests the message from the task that posts it (Collectives::Serve there).
  virtual void Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
                     Done done) = 0;
  // The name of the task that forms the groups.
  virtual std::string leader() const = 0;
};

class Collectives final : public Resource, public std::enable_shared_from_this<Collectives> {
 public:
  static constexpr const char* kTypeName = "sluice::Collectives";

  // Returns the object of the task that the device belongs to. The first call makes the object.
  // NOT_FOUND if the device belongs to no device set.
  static absl::StatusOr<std::shared_ptr<Collectives>> Of(ResourceManager& device);
  // `devices` maps the names of the task's devices to their incarnations, numbers that change when
  // the task restarts.
  explicit Collectives(std::map<std::string, uint64_t> devices);
  ~Collectives() override;
  std::string DebugString() const override { return "collectives"; }

  // Must be called before the first collective call. `network` outlives all calls. Null means that
  // all groups are within this task.
  void set_network(CollectiveNetwork* network) { network_ = network; }
  GroupTable& table() { return table_; }

  // Starts a member's call. `call.done` gets the result or the error.
  void Start(CollectiveCall call);
  // Answers another task's request for a message of a round. `done` gets the message as soon as
  // this task posts it. `cancellation` may be null and must outlive the call of `done`.
  void Serve(const CollectiveMessage& message, CancellationManager* cancellation,
             CollectiveNetwork::Done done);
  // Ends all present and later calls with `status`, because the server stops.
  void Stop(const absl::Status& status);

 private:
  struct Call;
  struct Request;
  struct Round;
  struct Group;
  class Links;
  class Later;  // functions to call after the lock is released
  using CallRef = std::shared_ptr<Call>;
  using RoundRef = std::shared_ptr<Round>;

  void Admit(Group& group, CallRef call, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void JoinGroup(Group& group, CallRef call, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enter(Group& group, const CallRef& call, Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckFits(const Round& round, const Call& call) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the call to the round. Returns an error if the call does not agree with the round's other
  // calls, or with the requests that other tasks have made. The round must then be failed.
  absl::Status AddCall(Round& round, const CallRef& call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RoundRef RoundOf(Group& group, const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FailRound(Group& group, const RoundRef& round, const absl::Status& status, Later& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Break(Group& group, const absl::Status& status, Later& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndCall(const CallRef& call, absl::StatusOr<Tensor> result, Later& later)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(Group& group, const std::string& round_id, const std::string& name, Request request,
              Later& later) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetIfDone(Group& group, const RoundRef& round) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Joined(int key, const std::string& device, uint64_t ticket,
              absl::StatusOr<CollectiveGroup> formed);
  // Stores the members of a newly formed group. ABORTED if a member of this task no longer waits to
  // join, or has tried to join again.
  absl::Status SetMembers(Group& group, int key, CollectiveGroup formed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cancel(const CallRef& call, const absl::Status& own, const std::string& reason);
  void Combine(const RoundRef& round);
  void CombineReduce(const RoundRef& round);
  void CombineGather(const RoundRef& round);
  void CombineBroadcast(const RoundRef& round);
  // The tensor that the source of a broadcast sends. nullopt if the source is on another task.
  static std::optional<Tensor> SourceOf(const Round& round);
  void Finish(const RoundRef& round, absl::StatusOr<Tensor> result);
  void Post(const RoundRef& round, const std::string& name, Tensor value);
  void Fetch(const RoundRef& round, int from, const std::string& name,
             std::function<void(absl::StatusOr<Tensor>)> done);
  std::string Describe(const Call& call) const;
  std::string DescribeMissing(const Call& call, const std::vector<std::string>& local) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::map<std::string, uint64_t> devices_;
  CollectiveNetwork* network_ = nullptr;
  GroupTable table_;
  mutable Mutex mutex_;
  std::map<int, std::unique_ptr<Group>> groups_ ABSL_GUARDED_BY(mutex_);
  // The generations and errors of the last broken groups.
  std::deque<std::pair<uint64_t, absl::Status>> broken_ ABSL_GUARDED_BY(mutex_);
  absl::Status stopped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_
