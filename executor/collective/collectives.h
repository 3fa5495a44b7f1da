// The collective ops of a task: where calls of the members of a group meet.
//
// A group is named by a key, and consists of the first `group_size` devices that come with it, on
// this task or, with a network, on several. Calls of one instance key meet once a round: those of
// one step, where one session runs all members; else, where the members belong to different
// sessions, the n-th call of each. The members of this task are merged here, one exchange between
// the tasks follows, and all members share the result.
//
// When a call fails (a mismatch, its step cancelled, a time-out, another task gone), all calls of
// its round end with the cause. Where members belong to different sessions the group is over as
// well: each member is told once, at its call or at the next one, and the next after that joins a
// new group. So no session goes on with an update that another has not made.
//
// Thread safety: all methods from any thread. Blocking: none; `done` is called once, without any
// lock. Ownership: shared by the devices of the task and the calls under way.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_
#define SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/collective/group_table.h"
#include "executor/collective/merge.h"
#include "executor/device/resource_manager.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/stalls.h"
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
  std::string iteration;  // of a loop: its number
  double timeout_seconds = 0;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;

  Tensor input;  // of all but those that receive
  DataType dtype = DT_INVALID;
  TensorShape shape;  // of the result
  MergeOp merge = MergeOp::kAdd;
  FinalOp final_op = FinalOp::kId;
  bool is_source = false;

  CancellationManager* cancellation = nullptr;  // outlives the call
  Stalls* stalls = nullptr;
  std::function<void(absl::StatusOr<Tensor>)> done;
};

// A message between tasks: who has it, and what it is. `call` says what the asking task's call is,
// so that one of another kind is found out instead of waited for.
struct CollectiveMessage {
  int group_key = 0;
  uint64_t generation = 0;
  GroupMember from;  // the first member there
  std::string round;
  std::string name;
  std::string call;
};

// The other tasks.
class CollectiveNetwork {
 public:
  using Done = std::function<void(absl::StatusOr<Tensor>)>;
  virtual ~CollectiveNetwork() = default;
  // As GroupTable::Join, at the leader of the cluster.
  virtual void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
                    GroupTable::Done done) = 0;
  virtual void Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
                     Done done) = 0;
  virtual std::string leader() const = 0;
};

class Collectives final : public Resource, public std::enable_shared_from_this<Collectives> {
 public:
  // In the devices' resource managers.
  static constexpr const char* kTypeName = "sluice::Collectives";
  static constexpr const char* kContainer = "_task";
  static constexpr const char* kName = "collectives";

  // Of the task's devices, with their incarnations.
  explicit Collectives(std::map<std::string, uint64_t> devices);
  ~Collectives() override;
  std::string DebugString() const override { return "collectives"; }

  // Before the first call. Outlives the calls; null: all groups are within this task.
  void set_network(CollectiveNetwork* network) { network_ = network; }
  GroupTable& table() { return table_; }

  void Start(CollectiveCall call);
  // Another task asks for a message that a round here posts.
  void Serve(const CollectiveMessage& message, CancellationManager* cancellation,
             CollectiveNetwork::Done done);
  // Ends all calls, now and later; the server stops.
  void Stop(const absl::Status& status);

 private:
  struct Call;
  struct Asking;
  struct Round;
  struct Group;
  class Links;
  class Later;  // what is done once the lock is gone
  using CallRef = std::shared_ptr<Call>;
  using RoundRef = std::shared_ptr<Round>;

  // All with the lock held.
  void Admit(Group& group, CallRef call, Later& later);
  void JoinGroup(Group& group, CallRef call, Later& later);
  void Enter(Group& group, const CallRef& call, Later& later);
  absl::Status CheckFits(const Round& round, const Call& call) const;
  RoundRef RoundOf(Group& group, const std::string& id);
  void FailRound(Group& group, const RoundRef& round, const absl::Status& status, Later& later);
  void Break(Group& group, const absl::Status& status, Later& later);
  void EndCall(const CallRef& call, absl::StatusOr<Tensor> result, Later& later);
  void ServeLocked(Group& group, const std::string& round_id, const std::string& name,
                   Asking asking, Later& later);
  void Forget(Group& group, const RoundRef& round);

  // Without it.
  void Joined(int key, const std::string& device, uint64_t ticket,
              absl::StatusOr<CollectiveGroup> formed);
  void Cancel(const CallRef& call, const absl::Status& own, const std::string& reason);
  void Combine(const RoundRef& round);
  void CombineReduce(const RoundRef& round);
  void CombineGather(const RoundRef& round);
  void CombineBroadcast(const RoundRef& round);
  void Finish(const RoundRef& round, absl::StatusOr<Tensor> result);
  void Post(const RoundRef& round, const std::string& name, Tensor value);
  void Fetch(const RoundRef& round, int from, const std::string& name,
             std::function<void(absl::StatusOr<Tensor>)> done);
  std::string Describe(const Call& call) const;

  const std::map<std::string, uint64_t> devices_;
  CollectiveNetwork* network_ = nullptr;
  GroupTable table_;
  mutable std::mutex mutex_;
  std::map<int, std::unique_ptr<Group>> groups_;        // guarded by mutex_
  std::deque<std::pair<uint64_t, absl::Status>> over_;  // groups; guarded by mutex_
  absl::Status stopped_;                                // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVES_H_
