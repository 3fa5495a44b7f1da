#include "executor/collective/collectives.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "executor/collective/collective_state.h"
#include "executor/device/device_set.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Step ids of cluster sessions are random numbers of 56 bits, almost all of which are larger than
// this. Smaller ids are unique only within their process.
constexpr int64_t kSharedStepIds = int64_t{1} << 32;

uint64_t NewTicket() {
  static auto* const mutex = new Mutex;
  static auto* random = new std::mt19937_64(std::random_device{}());
  ScopedLock lock(mutex);
  return (*random)() | 1;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Collectives>> Collectives::Of(ResourceManager& device) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<TaskDevices> devices, TaskDevices::Of(device));
  return devices->resources().LookupOrCreate<Collectives>(
      "", "collectives", [&] { return std::make_shared<Collectives>(devices->incarnations()); });
}

Collectives::Collectives(std::map<std::string, uint64_t> devices) : devices_(std::move(devices)) {}
Collectives::~Collectives() = default;

void Collectives::Start(CollectiveCall request) {
  if (request.group_size <= 0) {
    return request.done(
        InvalidArgument("group_size must be positive integer but got ", request.group_size));
  }
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  const CollectiveCall& r = call->request;
  Later later;
  ScopedLock lock(&mutex_);
  auto self = shared_from_this();
  if (r.cancellation != nullptr) {
    call->token = r.cancellation->NewToken();
    const absl::Status own = absl::CancelledError(StrCat(r.op, " was cancelled"));
    const auto cancel = [self, call, own] { self->Cancel(call, own, "its step was cancelled"); };
    if (!r.cancellation->Register(call->token, cancel)) {
      call->token = 0;
      return EndCall(call, own, later);
    }
  }
  if (r.stalls != nullptr) {
    call->stall = r.stalls->Open({.step_id = r.step_id,
                                  .node = r.node,
                                  .op = r.op,
                                  .resource = StrCat("collective group ", r.group_key),
                                  .describe = [self, call] { return self->Describe(*call); }});
  }
  if (r.timeout_seconds > 0) {
    constexpr double kHundredYears = 3.15e9;  // in seconds. Longer times overflow nanoseconds.
    const auto delay = std::chrono::nanoseconds(
        static_cast<int64_t>(std::min(r.timeout_seconds, kHundredYears) * 1e9));
    const absl::StatusOr<Timer::Id> timer = Timer::Global().After(delay, [self, call] {
      const std::string waited = self->Describe(*call);
      self->Cancel(call,
                   absl::DeadlineExceededError(
                       StrCat("Collective has timed out waiting for other workers: ", waited)),
                   "its time was over");
    });
    if (!timer.ok()) return EndCall(call, timer.status(), later);
    call->timer = *timer;
  }
  if (!stopped_.ok()) return EndCall(call, stopped_, later);
  auto& group = groups_[r.group_key];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->key = r.group_key;
  }
  Admit(*group, std::move(call), later);
}

void Collectives::EndCall(const CallRef& call, absl::StatusOr<Tensor> result, Later& later) {
  if (std::exchange(call->is_ended, true)) return;
  later.Do([call, result = std::move(result)]() mutable {
    CollectiveCall& r = call->request;
    if (call->timer != 0) Timer::Global().Drop(call->timer);
    if (call->token != 0) r.cancellation->TryDeregister(call->token);
    if (call->stall != 0) r.stalls->Close(call->stall);
    call->round = nullptr;
    r.input = Tensor();
    std::exchange(r.done, nullptr)(std::move(result));
  });
}

// --- groups

void Collectives::Admit(Group& group, CallRef call, Later& later) {
  const CollectiveCall& r = call->request;
  if (auto error = group.unreported.find(r.device); error != group.unreported.end()) {
    const absl::Status status = error->second;
    group.unreported.erase(error);
    return EndCall(call, status, later);
  }
  if (group.generation == 0 || !group.joined.contains(r.device)) {
    return JoinGroup(group, std::move(call), later);
  }
  if (r.group_size != group.size) {
    return EndCall(call,
                   absl::InternalError(StrCat("Device ", r.device, " is joining a group with size ",
                                              r.group_size, ", but that group has size ",
                                              group.size, " (group_key=", group.key, ")")),
                   later);
  }
  Enter(group, call, later);
}

void Collectives::JoinGroup(Group& group, CallRef call, Later& later) {
  const std::string device = call->request.device;
  Group::Joining& joining = group.joining[device];
  joining.calls.push_back(call);
  if (joining.ticket != 0) return;  // in progress
  joining.ticket = group.tickets[device] = NewTicket();
  joining.cancellation = std::make_shared<CancellationManager>();
  auto incarnation = devices_.find(device);
  GroupMember member{device, incarnation == devices_.end() ? 1 : incarnation->second,
                     joining.ticket, static_cast<uint64_t>(call->request.step_id)};
  if (call->request.step_id < kSharedStepIds) member.step += devices_.begin()->second;
  later.Do([self = shared_from_this(), key = group.key, size = call->request.group_size, member,
            cancellation = joining.cancellation] {
    auto done = [self, key, member, cancellation](absl::StatusOr<CollectiveGroup> formed) {
      self->Joined(key, member.device, member.ticket, std::move(formed));
    };
    if (self->network_ == nullptr) {
      self->table_.Join(key, size, member, cancellation.get(), std::move(done));
    } else {
      self->network_->Join(key, size, member, cancellation.get(), std::move(done));
    }
  });
}

absl::Status Collectives::SetMembers(Group& group, int key, CollectiveGroup formed) {
  absl::Status status;
  group.generation = formed.generation;
  group.members = std::move(formed.members);
  group.size = static_cast<int>(group.members.size());
  group.joined.clear();
  group.local.clear();
  group.tasks.clear();
  group.is_of_one_step = true;
  for (const GroupMember& m : group.members) {
    group.is_of_one_step = group.is_of_one_step && m.step == group.members[0].step;
    const std::string task = TaskOfDevice(m.device);
    if (group.tasks.empty() || TaskOfDevice(group.tasks.back().device) != task) {
      group.tasks.push_back(m);
    }
    if (!devices_.contains(m.device)) continue;
    group.rank = static_cast<int>(group.tasks.size()) - 1;
    group.local.push_back(m.device);
    if (group.tickets[m.device] != m.ticket) {
      status = absl::AbortedError(
          StrCat("collective group ", key, ": ", m.device, " has left before it was formed"));
    }
  }
  return status;
}

void Collectives::Joined(int key, const std::string& device, uint64_t ticket,
                         absl::StatusOr<CollectiveGroup> formed) {
  Later later;
  ScopedLock lock(&mutex_);
  Group& group = *groups_[key];
  auto it = group.joining.find(device);
  if (it == group.joining.end() || it->second.ticket != ticket) return;
  Group::Joining joining = std::move(it->second);
  group.joining.erase(it);
  absl::Status status = formed.status();
  if (status.ok() && formed->generation != group.generation) {
    if (group.generation != 0) {
      Break(group,
            absl::AbortedError(StrCat("collective group ", key, " was formed anew by ", device)),
            later);
    }
    status = SetMembers(group, key, *std::move(formed));
    if (!status.ok()) Break(group, status, later);
  }
  if (!status.ok()) {
    for (const CallRef& call : joining.calls) EndCall(call, status, later);
    for (auto& [message, request] : joining.early) {
      later.Do([done = std::move(request.done), status] { done(status); });
    }
    return;
  }
  group.joined.insert(device);
  for (const CallRef& call : joining.calls) {
    if (!call->is_ended) Admit(group, call, later);
  }
  for (auto& [message, request] : joining.early) {
    if (message.generation == group.generation) {
      Answer(group, message.round, message.name, std::move(request), later);
    } else {
      later.Do([done = std::move(request.done), key] {
        done(absl::AbortedError(StrCat("collective group ", key, " was formed anew")));
      });
    }
  }
}

void Collectives::Cancel(const CallRef& call, const absl::Status& own, const std::string& reason) {
  Later later;
  ScopedLock lock(&mutex_);
  if (call->is_ended) return;
  const CollectiveCall& r = call->request;
  Group& group = *groups_[r.group_key];
  const RoundRef round = call->round;
  EndCall(call, own, later);
  if (round == nullptr) {
    auto it = group.joining.find(r.device);
    if (it == group.joining.end()) return;
    const auto& calls = it->second.calls;
    if (!std::all_of(calls.begin(), calls.end(), [](const CallRef& c) { return c->is_ended; })) {
      return;
    }
    // No call waits for this attempt to join any more. The next call starts a new one.
    Group::Joining joining = std::move(it->second);
    group.joining.erase(it);
    group.tickets.erase(r.device);
    const absl::Status left =
        absl::AbortedError(StrCat("member ", r.device, " has left before collective group ",
                                  r.group_key, " was formed: ", reason));
    for (auto& [message, request] : joining.early) {
      later.Do([done = std::move(request.done), left] { done(left); });
    }
    later.Do([cancellation = joining.cancellation] { cancellation->StartCancel(); });
    return;
  }
  const std::string text = StrCat("member ", r.device, " (", r.op, " node '", r.node,
                                  "') has left collective group ", r.group_key, ": ", reason);
  FailRound(group, round,
            group.is_of_one_step ? absl::CancelledError(text) : absl::AbortedError(text), later);
}

void Collectives::Stop(const absl::Status& status) {
  Later later;
  ScopedLock lock(&mutex_);
  stopped_ = status;
  for (auto& [key, group] : groups_) {
    for (auto& [device, joining] : group->joining) {
      for (const CallRef& call : joining.calls) EndCall(call, status, later);
      later.Do([cancellation = joining.cancellation] { cancellation->StartCancel(); });
    }
    if (group->generation != 0) Break(*group, status, later);
  }
}

namespace {

std::string WithoutRepetitions(const std::multiset<std::string>& tasks) {
  std::string text;
  std::string last;
  for (const std::string& task : tasks) {
    if (task != std::exchange(last, task)) StrAppend(&text, text.empty() ? "" : ", ", task);
  }
  return text;
}

}  // namespace

// `local` holds the members of this task.
std::string Collectives::DescribeMissing(const Call& call,
                                         const std::vector<std::string>& local) const {
  const std::vector<CallRef>& calls = call.round->calls;
  std::string missing;
  size_t come = 0;
  for (const std::string& device : local) {
    const bool has_come = std::any_of(
        calls.begin(), calls.end(), [&](const CallRef& c) { return c->request.device == device; });
    come += has_come ? 1 : 0;
    if (!has_come) StrAppend(&missing, missing.empty() ? "" : ", ", device);
  }
  return StrCat("instance ", call.request.instance_key, ": ", come, " of ", local.size(),
                " members of this task have come, missing: ", missing);
}

std::string Collectives::Describe(const Call& call) const {
  ScopedLock lock(&mutex_);
  const CollectiveCall& r = call.request;
  if (call.is_ended) return "has ended";
  const RoundRef round = call.round;
  if (round == nullptr) {
    const std::string come = table_.Describe(r.group_key);
    if (!come.empty()) return come;
    return StrCat("waits for ", r.group_size, " members to come to ",
                  network_ == nullptr ? "this task" : network_->leader());
  }
  auto it = groups_.find(r.group_key);
  if (!round->is_complete && it != groups_.end()) {
    return DescribeMissing(call, it->second->local);
  }
  const std::string from = WithoutRepetitions(round->fetching);
  return StrCat("instance ", r.instance_key, ": waits for ", from.empty() ? "its exchange" : from);
}

}  // namespace sluice
