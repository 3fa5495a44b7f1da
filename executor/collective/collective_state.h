// The calls, rounds and groups of Collectives (collectives.h). Only the source files of Collectives
// include this header.
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

// A call in progress.
struct Collectives::Call {
  CollectiveCall request;
  CancellationManager::Token token = 0;
  Stalls::Entry stall = 0;
  Timer::Id timer = 0;
  // Guarded by Collectives::mutex_:
  bool is_ended = false;
  RoundRef round;  // null while the call waits for its group
};

// Another task's request for a message that is not posted yet.
struct Collectives::Request {
  std::string call;
  CancellationManager* cancellation = nullptr;
  CancellationManager::Token token = 0;
  CollectiveNetwork::Done done;
};

struct Collectives::Round {
  int group_key = 0;
  uint64_t generation = 0;
  std::string id;
  std::string agreement;       // the properties that all calls share; set by the first local call
  std::vector<CallRef> calls;  // in the order of members once the round is complete
  bool is_complete = false;    // all local members have called
  bool is_ended = false;
  std::map<std::string, Tensor> posted;     // messages until they are fetched
  std::map<std::string, Request> requests;  // for messages that are not posted yet
  std::multiset<std::string> fetching;      // the tasks that messages are fetched from
  std::vector<GroupMember> tasks;           // the first member of each task of the group
  int rank = 0;                             // of this task
  int num_members = 0;
  CancellationManager fetches;
};

struct Collectives::Group {
  int key = 0;
  int size = 0;
  uint64_t generation = 0;  // 0: not formed
  std::vector<GroupMember> members;
  std::vector<GroupMember> tasks;
  std::vector<std::string> local;  // members of this task, in order
  int rank = 0;                    // of this task
  bool is_of_one_step = false;     // one session runs all members
  std::set<std::string> joined;    // the joined members in `local`
  std::map<std::string, RoundRef> rounds;
  std::map<std::pair<std::string, std::string>, int64_t> calls;  // counts by device and instance
  std::deque<std::pair<std::string, absl::Status>> failed;       // rounds and their errors
  // The rounds that have ended with success. A further call in one of these rounds is an error.
  std::deque<std::string> ended_order;
  std::set<std::string> ended;
  std::map<std::string, absl::Status> unreported;  // by device: an error that it has not received

  struct Joining {
    uint64_t ticket = 0;
    std::vector<CallRef> calls;
    std::shared_ptr<CancellationManager> cancellation;
    // Requests of tasks that have learned of the formed group before this task.
    std::vector<std::pair<CollectiveMessage, Request>> early;
  };
  std::map<std::string, Joining> joining;   // by device
  std::map<std::string, uint64_t> tickets;  // by device: its latest attempt to join

  absl::Status Failure(const std::string& round) const {
    for (const auto& [id, status] : failed) {
      if (id == round) return status;
    }
    return absl::OkStatus();
  }
};

// Calls the functions that Do got, in the destructor. Declare a Later before the lock, so that the
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
