#include "executor/collective/group_table.h"

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "graph/build/device_spec.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the sort key of a member. Its device number is compared as a number: "CPU:10" comes after
// "CPU:9".
auto OrderOf(const GroupMember& member) {
  const absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(member.device);
  if (!spec.ok()) return std::make_tuple(std::string(), 0, 0, std::string(), 0, member.device);
  return std::make_tuple(spec->job.value_or(""), static_cast<int>(spec->replica.value_or(0)),
                         static_cast<int>(spec->task.value_or(0)), spec->type.value_or(""),
                         static_cast<int>(spec->id.value_or(0)), member.device);
}

bool Has(const std::vector<GroupMember>& members, const std::string& device) {
  return std::any_of(members.begin(), members.end(),
                     [&](const GroupMember& m) { return m.device == device; });
}

}  // namespace

struct GroupTable::State {
  struct Waiting {
    GroupMember member;
    CancellationManager* cancellation;
    CancellationManager::Token token;
    Done done;
  };
  struct Group {
    int size = 0;
    std::map<std::string, Waiting> waiting;  // by device
    std::vector<GroupMember> former;         // the members of the last formed group
    bool is_formed = false;                  // all members have joined and none has left
  };
  // A result for several members, which the destructor delivers. Declared before the lock.
  struct Delivery {
    std::vector<Waiting> to;
    absl::StatusOr<CollectiveGroup> result = CollectiveGroup();
    ~Delivery() {
      for (Waiting& w : to) {
        if (w.cancellation != nullptr) w.cancellation->TryDeregister(w.token);
        w.done(result);
      }
    }
  };

  mutable Mutex mutex;
  std::map<int, Group> groups ABSL_GUARDED_BY(mutex);
  std::mt19937_64 random ABSL_GUARDED_BY(mutex){std::random_device{}()};

  absl::Status Check(const Group& group, int key, int size, const GroupMember& member) const {
    const bool is_former = group.is_formed && Has(group.former, member.device);
    const bool has_size = group.is_formed || !group.waiting.empty();
    if (has_size && group.size != size && !is_former) {
      return absl::InternalError(StrCat("Device ", member.device, " is joining a group with size ",
                                        size, ", but that group has size ", group.size,
                                        " (group_key=", key, ")"));
    }
    if (group.is_formed && !is_former) {
      return absl::InternalError(StrCat("Device ", member.device,
                                        " is joining a group that is already full (group_key=", key,
                                        ")"));
    }
    return absl::OkStatus();
  }

  static void TakeAll(Group& group, Delivery* delivery) {
    for (auto& [device, waiting] : group.waiting) delivery->to.push_back(std::move(waiting));
    group.waiting.clear();
  }

  // Removes the member that joined with this ticket.
  void Leave(int key, const std::string& device, uint64_t ticket, Delivery* delivery) {
    ScopedLock lock(&mutex);
    Group& group = groups[key];
    auto it = group.waiting.find(device);
    if (it == group.waiting.end() || it->second.member.ticket != ticket) return;
    delivery->to.push_back(std::move(it->second));
    group.waiting.erase(it);
  }
};

GroupTable::GroupTable() : state_(std::make_shared<State>()) {}

void GroupTable::Join(int key, int size, const GroupMember& member,
                      CancellationManager* cancellation, Done done) {
  State::Delivery delivery;
  ScopedLock lock(&state_->mutex);
  State::Group& group = state_->groups[key];
  State::Waiting joining{member, cancellation, 0, std::move(done)};
  if (absl::Status status = state_->Check(group, key, size, member); !status.ok()) {
    State::TakeAll(group, &delivery);
    joining.cancellation = nullptr;
    delivery.to.push_back(std::move(joining));
    delivery.result = status;
    return;
  }
  if (cancellation != nullptr) {
    joining.token = cancellation->NewToken();
    auto leave = [state = state_, key, device = member.device, ticket = member.ticket] {
      State::Delivery left;
      left.result =
          absl::CancelledError(StrCat("waiting for the members of group ", key, " was cancelled"));
      state->Leave(key, device, ticket, &left);
    };
    if (!cancellation->Register(joining.token, std::move(leave))) {
      joining.cancellation = nullptr;
      delivery.to.push_back(std::move(joining));
      delivery.result = absl::CancelledError("");
      return;
    }
  }
  group.is_formed = false;
  group.size = size;
  // A restarted device joins again. Its earlier attempt to join is aborted.
  if (auto it = group.waiting.find(member.device); it != group.waiting.end()) {
    delivery.to.push_back(std::move(it->second));
    delivery.result = absl::AbortedError(StrCat("device ", member.device, " has come once more"));
    group.waiting.erase(it);
  }
  group.waiting.emplace(member.device, std::move(joining));
  if (static_cast<int>(group.waiting.size()) < size || !delivery.to.empty()) return;
  CollectiveGroup formed;
  formed.generation = (state_->random() >> 1) | 1;
  for (const auto& [device, c] : group.waiting) formed.members.push_back(c.member);
  std::sort(formed.members.begin(), formed.members.end(),
            [](const auto& a, const auto& b) { return OrderOf(a) < OrderOf(b); });
  group.former = formed.members;
  group.is_formed = true;
  State::TakeAll(group, &delivery);
  delivery.result = std::move(formed);
}

std::string GroupTable::Describe(int key) const {
  ScopedLock lock(&state_->mutex);
  auto it = state_->groups.find(key);
  if (it == state_->groups.end() || it->second.waiting.empty()) return "";
  const State::Group& group = it->second;
  std::string come, missing;
  for (const auto& [device, c] : group.waiting) StrAppend(&come, come.empty() ? "" : ", ", device);
  for (const GroupMember& m : group.former) {
    if (group.waiting.contains(m.device)) continue;
    StrAppend(&missing, missing.empty() ? ", missing: " : ", ", m.device);
  }
  return StrCat(group.waiting.size(), " of ", group.size, " members have come (", come, ")",
                missing);
}

}  // namespace sluice
