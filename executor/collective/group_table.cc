#include "executor/collective/group_table.h"

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "graph/build/device_spec.h"
#include "graph/status.h"

namespace sluice {
namespace {

// "CPU:10" comes after "CPU:9".
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
  struct Coming {
    GroupMember member;
    CancellationManager* cancellation;
    CancellationManager::Token token;
    Done done;
  };
  struct Group {
    int size = 0;
    std::map<std::string, Coming> coming;  // by device
    std::vector<GroupMember> former;       // of the last one that was formed
    bool is_formed = false;                // and nobody has left it
  };
  // What is to be told, once the lock is gone.
  struct Telling {
    std::vector<Coming> to;
    absl::StatusOr<CollectiveGroup> what = CollectiveGroup();
    ~Telling() {
      for (Coming& c : to) {
        if (c.cancellation != nullptr) c.cancellation->TryDeregister(c.token);
        c.done(what);
      }
    }
  };

  mutable std::mutex mutex;
  std::map<int, Group> groups;                     // guarded by mutex
  std::mt19937_64 random{std::random_device{}()};  // guarded by mutex

  absl::Status Check(const Group& group, int key, int size, const GroupMember& member) const {
    const bool is_former = group.is_formed && Has(group.former, member.device);
    const bool has_size = group.is_formed || !group.coming.empty();
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

  static void TakeAll(Group& group, Telling* telling) {
    for (auto& [device, coming] : group.coming) telling->to.push_back(std::move(coming));
    group.coming.clear();
  }

  // The one who has come with this ticket goes again.
  void Leave(int key, const std::string& device, uint64_t ticket, Telling* telling) {
    std::lock_guard<std::mutex> lock(mutex);
    Group& group = groups[key];
    auto it = group.coming.find(device);
    if (it == group.coming.end() || it->second.member.ticket != ticket) return;
    telling->to.push_back(std::move(it->second));
    group.coming.erase(it);
  }
};

GroupTable::GroupTable() : state_(std::make_shared<State>()) {}

void GroupTable::Join(int key, int size, const GroupMember& member,
                      CancellationManager* cancellation, Done done) {
  State::Telling telling;
  std::lock_guard<std::mutex> lock(state_->mutex);
  State::Group& group = state_->groups[key];
  State::Coming coming{member, cancellation, 0, std::move(done)};
  if (absl::Status status = state_->Check(group, key, size, member); !status.ok()) {
    State::TakeAll(group, &telling);
    coming.cancellation = nullptr;
    telling.to.push_back(std::move(coming));
    telling.what = status;
    return;
  }
  if (cancellation != nullptr) {
    coming.token = cancellation->NewToken();
    auto leave = [state = state_, key, device = member.device, ticket = member.ticket] {
      State::Telling left;
      left.what =
          absl::CancelledError(StrCat("waiting for the members of group ", key, " was cancelled"));
      state->Leave(key, device, ticket, &left);
    };
    if (!cancellation->Register(coming.token, std::move(leave))) {
      coming.cancellation = nullptr;
      telling.to.push_back(std::move(coming));
      telling.what = absl::CancelledError("");
      return;
    }
  }
  group.is_formed = false;
  group.size = size;
  // Who was started again comes once more.
  if (auto it = group.coming.find(member.device); it != group.coming.end()) {
    telling.to.push_back(std::move(it->second));
    telling.what = absl::AbortedError(StrCat("device ", member.device, " has come once more"));
    group.coming.erase(it);
  }
  group.coming.emplace(member.device, std::move(coming));
  if (static_cast<int>(group.coming.size()) < size || !telling.to.empty()) return;
  CollectiveGroup formed;
  formed.generation = (state_->random() >> 1) | 1;
  for (const auto& [device, c] : group.coming) formed.members.push_back(c.member);
  std::sort(formed.members.begin(), formed.members.end(),
            [](const auto& a, const auto& b) { return OrderOf(a) < OrderOf(b); });
  group.former = formed.members;
  group.is_formed = true;
  State::TakeAll(group, &telling);
  telling.what = std::move(formed);
}

std::string GroupTable::Describe(int key) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto it = state_->groups.find(key);
  if (it == state_->groups.end() || it->second.coming.empty()) return "";
  const State::Group& group = it->second;
  std::string come, missing;
  for (const auto& [device, c] : group.coming) StrAppend(&come, come.empty() ? "" : ", ", device);
  for (const GroupMember& m : group.former) {
    if (group.coming.contains(m.device)) continue;
    StrAppend(&missing, missing.empty() ? ", missing: " : ", ", m.device);
  }
  return StrCat(group.coming.size(), " of ", group.size, " members have come (", come, ")",
                missing);
}

}  // namespace sluice
