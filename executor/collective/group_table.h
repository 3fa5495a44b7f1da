// The table that forms the groups of collective ops. A group is a set of devices whose tensors
// these ops merge. It is complete when as many devices have joined as its size says. All of them
// are then notified.
//
// The table of one task, the leader, serves the whole cluster. If a member of a complete group
// joins again, the group ends, and a new one forms.
//
// Thread safety: all methods may be called from any thread. `done` is called once, without a lock.
//
// Errors, in TensorFlow's words: INTERNAL if a device joins a complete group of which it is no
// member, or if it joins with another size. The error ends the calls of all waiting members of the
// group. ABORTED for a member that still waits when its device joins once more.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/wait/cancellation.h"

namespace sluice {

struct GroupMember {
  std::string device;        // full name
  uint64_t incarnation = 0;  // changes when the device's task restarts
  uint64_t ticket = 0;       // random, never 0: identifies this attempt to join
  // Identifies the step that joins. Equal for members that one session runs in one step.
  uint64_t step = 0;
};

struct CollectiveGroup {
  uint64_t generation = 0;           // random: distinguishes groups with the same key
  std::vector<GroupMember> members;  // sorted by the device's job, task and number
};

class GroupTable {
 public:
  using Done = std::function<void(absl::StatusOr<CollectiveGroup>)>;
  GroupTable();
  // Adds the member to the group with this key, and calls `done` when the group is complete.
  // `cancellation` may be null and must outlive the call of `done`. If the cancellation starts
  // before the group is complete, `done` gets CANCELLED.
  void Join(int key, int size, const GroupMember& member, CancellationManager* cancellation,
            Done done);
  // Names the members that have joined the incomplete group with this key, and the members of the
  // previous group that have not joined again: "1 of 2 members have come (/job:…:0), missing:
  // /job:…:1". Returns "" if no member waits.
  std::string Describe(int key) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the callbacks of cancellation
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_GROUP_TABLE_H_
