// Declares the internal state of Collectives (collectives.h): calls in progress, rounds, which
// merge one call of each member, and groups. Only the source files of Collectives include this
// header.
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
#include "executor/wait/timer.h"

namespace sluice {

// Collectives keeps the errors of the last failed rounds of each group, and of the last broken
// groups, to answer later requests of other tasks. This is the number of errors in each list.
inline constexpr size_t kRememberedFailures = 64;

inline std::string TaskOfDevice(const std::string& device) {
  return device.substr(0, device.find("/device:"));
}

// A member's call in progress.
struct Collectives::Call {
  CollectiveCall request;
  CancellationManager::Token token = 0;
  Stalls::Entry stall = 0;
  Timer::Id timer = 0;
  // Guarded by Collectives::mutex_:
  bool is_ended = false;
  RoundRef round;  // null until the call's group is formed
};

// Another task's request for a message that this task has not posted yet.
struct Collectives::Request {
  std::string call;                             // CollectiveMessage::call
  CancellationManager* cancellation = nullptr;  // may be null
  CancellationManager::Token token = 0;
  CollectiveNetwork::Done done;
};

struct Collectives::Round {
  int group_key = 0;
  uint64_t generation = 0;
  std::string id;
  // The properties in which all calls must agree, as text: the kind, type, shape and so on. Set by
  // the first call on this task.
  std::string agreement;
  std::vector<CallRef> calls;  // in the order of members once the round is complete
  bool is_complete = false;    // all members on this task have called
  bool is_ended = false;
  std::map<std::string, Tensor> posted;     // by name: messages that are not fetched yet
  std::map<std::string, Request> requests;  // by name: for messages that are not posted yet
  std::multiset<std::string> fetching;      // the tasks from which this task now fetches messages
  std::vector<GroupMember> tasks;           // the first member of each task of the group
  int rank = 0;                             // the index of this task in `tasks`
  int num_members = 0;                      // on all tasks
  CancellationManager fetches;
};

struct Collectives::Group {
  int key = 0;
  int size = 0;
  uint64_t generation = 0;           // 0: not formed
  std::vector<GroupMember> members;  // of all tasks
  std::vector<GroupMember> tasks;    // the first member of each task
  std::vector<std::string> local;    // the devices of this task's members, in order
  int rank = 0;                      // the index of this task in `tasks`
  bool is_of_one_step = false;       // all members joined in the same step of one session
  std::set<std::string> joined;      // the devices in `local` whose join has ended with success
  std::map<std::string, RoundRef> rounds;
  // The number of calls so far, which is the number of the next round. The key is the device and
  // the text "<instance_key>/<loop iteration>". Used only if the members run different steps.
  // Otherwise the step id tells the rounds of an instance apart.
  std::map<std::pair<std::string, std::string>, int64_t> calls;
  std::deque<std::pair<std::string, absl::Status>> failed;  // the last failed rounds, by id
  // The rounds that have ended with success. A further call in one of these rounds is an error.
  std::deque<std::string> ended_order;
  std::set<std::string> ended;
  std::map<std::string, absl::Status> unreported;  // by device: the error that its next call gets

  // A device's attempt to join the group.
  struct Joining {
    uint64_t ticket = 0;
    std::vector<CallRef> calls;  // that wait for the group
    std::shared_ptr<CancellationManager> cancellation;
    // Requests of other tasks that were notified of the formed group before this task.
    std::vector<std::pair<CollectiveMessage, Request>> early;
  };
  std::map<std::string, Joining> joining;   // by device
  std::map<std::string, uint64_t> tickets;  // by device: GroupMember::ticket of its latest attempt

  // Returns the error of a round in `failed`, by the round's id. OK if it is not in the list.
  absl::Status Failure(const std::string& round) const {
    for (const auto& [id, status] : failed) {
      if (id == round) return status;
    }
    return absl::OkStatus();
  }
};

// Collects functions, which its destructor calls. Declare a Later before a ScopedLock, so that the
// functions are called after the lock is released.
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
