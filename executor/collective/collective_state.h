// What the parts of Collectives share: calls, rounds and groups. For their files alone.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVE_STATE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVE_STATE_H_

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "executor/collective/collectives.h"
#include "executor/collective/timer.h"

namespace sluice {

// So many failures are remembered, for tasks that ask later.
inline constexpr size_t kRememberedFailures = 64;

inline std::string TaskOfDevice(const std::string& device) {
  return device.substr(0, device.find("/device:"));
}

// A call under way, here or in an exchange.
struct Collectives::Call {
  CollectiveCall request;
  CancellationManager::Token token = 0;
  Stalls::Entry stall = 0;
  Timer::Id timer = 0;
  bool is_ended = false;  // what follows: guarded by mutex_
  RoundRef round;         // null: waits for its group
};

// Another task that waits for a message.
struct Collectives::Asking {
  std::string call;
  CancellationManager* cancellation = nullptr;
  CancellationManager::Token token = 0;
  CollectiveNetwork::Done done;
};

struct Collectives::Round {
  int group_key = 0;
  uint64_t generation = 0;
  std::string id;
  // Set with the first call of this task.
  std::string agreement;
  std::vector<CallRef> calls;  // in the order of members, once all have come
  bool is_complete = false;    // all members of this task have come
  bool is_ended = false;
  std::map<std::string, Tensor> posted;  // until they are fetched
  std::map<std::string, Asking> asked;   // for what is not posted yet
  std::multiset<std::string> fetching;   // from these tasks
  // Of the group, for the exchange.
  std::vector<GroupMember> tasks;  // the first member of each
  int rank = 0;                    // this task's
  int num_members = 0;
  CancellationManager fetches;
};

struct Collectives::Group {
  int key = 0;
  int size = 0;
  uint64_t generation = 0;  // 0: none
  std::vector<GroupMember> members;
  std::vector<GroupMember> tasks;
  std::vector<std::string> local;  // members of this task, in order
  int rank = 0;                    // of this task
  bool is_of_one_step = false;     // all members are run by one session
  std::set<std::string> joined;    // of `local`
  std::map<std::string, RoundRef> rounds;
  std::map<std::pair<std::string, std::string>, int64_t> calls;  // so far, by device and instance
  std::deque<std::pair<std::string, absl::Status>> failed;       // rounds
  // Rounds of steps that have ended well: who comes to one of them is one too many.
  std::deque<std::string> ended_order;
  std::set<std::string> ended;
  std::map<std::string, absl::Status> untold;  // members that have to hear that the group is over

  struct Joining {
    uint64_t ticket = 0;
    std::vector<CallRef> calls;
    std::shared_ptr<CancellationManager> cancellation;
    // Others know already that the group is formed.
    std::vector<std::pair<CollectiveMessage, Asking>> early;
  };
  std::map<std::string, Joining> joining;  // by device
  std::map<std::string, uint64_t> tickets;

  absl::Status Failure(const std::string& round) const {
    for (const auto& [id, status] : failed) {
      if (id == round) return status;
    }
    return absl::OkStatus();
  }
};

// Runs when it goes out of scope: declare it before the lock.
class Collectives::Later {
 public:
  void Do(std::function<void()> f) { functions_.push_back(std::move(f)); }
  ~Later() {
    for (auto& f : functions_) f();
  }

 private:
  std::vector<std::function<void()>> functions_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_COLLECTIVE_STATE_H_
