// Where the members of collective groups find each other: a group is formed when as many devices as
// it has members have come, and is then told to all of them.
//
// One table serves a cluster: the leader's. A member that comes again has left the group that was
// formed before, which then is over for all: a new one forms.
//
// Thread safety: all methods from any thread; `done` is called once, without any lock.
// Errors, as TensorFlow's: INTERNAL for a device that is too many, or that says another size. They
// end all who wait in the group.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/wait/cancellation.h"

namespace sluice {

struct GroupMember {
  std::string device;  // full name
  uint64_t incarnation = 0;
  uint64_t ticket = 0;  // of this coming: random, never 0
  // Of the step that it came with: equal for the members that one session runs in one step.
  uint64_t step = 0;
};

struct CollectiveGroup {
  uint64_t generation = 0;           // of the group that was formed; random
  std::vector<GroupMember> members;  // by device: job, task, number
};

class GroupTable {
 public:
  using Done = std::function<void(absl::StatusOr<CollectiveGroup>)>;
  GroupTable();
  // `cancellation` may be null, and must outlive the call of `done`; CANCELLED when it fires.
  void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
            Done done);
  // Who has come, and which of the former members have not: "1 of 2 members have come
  // (/job:…:0), missing: /job:…:1". "" where nobody waits.
  std::string Describe(int key) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the callbacks of cancellation
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_
