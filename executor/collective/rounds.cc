// The part of Collectives that handles rounds: collects the calls on this task that belong to one
// round, and exchanges the round's messages with other tasks.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "executor/collective/collective_state.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// The properties in which the calls of a round must agree.
std::string Agreement(const CollectiveCall& call) {
  std::string text = StrCat(static_cast<int>(call.kind), " ", static_cast<int>(call.dtype), " ",
                            call.shape.ToString());
  if (call.kind == CollectiveKind::kReduce) {
    StrAppend(&text, " ", static_cast<int>(call.merge), static_cast<int>(call.final_op),
              static_cast<int>(call.algorithm));
  }
  return text;
}

struct Agreed {
  int kind = 0;
  int dtype = 0;
  std::string shape, rest;
};
Agreed Parse(const std::string& text) {
  Agreed a;
  const size_t first = text.find(' '), second = text.find(' ', first + 1);
  if (first == text.npos || second == text.npos) return a;
  a.kind = std::atoi(text.c_str());
  a.dtype = std::atoi(text.c_str() + first);
  const size_t third = text.find(' ', second + 1);
  a.shape = text.substr(second + 1, third - second - 1);
  a.rest = third == text.npos ? "" : text.substr(third + 1);
  return a;
}

// Texts and codes are TensorFlow's, except the last one: TensorFlow does not compare ops.
absl::Status Disagreement(int instance, const std::string& device, const std::string& mine,
                          const std::string& others) {
  const Agreed a = Parse(mine), b = Parse(others);
  if (a.kind != b.kind || a.dtype != b.dtype) {
    return absl::InternalError(StrCat("Collective instance ", instance, " expected type ", b.kind,
                                      " and data_type ", b.dtype, " but got type ", a.kind,
                                      " and data_type ", a.dtype, " at device ", device));
  }
  SLUICE_INVALID_IF(a.shape != b.shape, "Shape mismatch in the collective instance ", instance,
                    ". Op at device ", device, " expected shape ", a.shape,
                    " but another member in the group expected shape ", b.shape,
                    ". This is likely due to different input shapes at different members of "
                    "the collective op.");
  return InvalidArgument(
      "the members of collective instance ", instance,
      " expect the same merge_op, final_op and communication_hint, but those of ", device,
      " are others");
}

absl::Status TooMany(const CollectiveCall& call) {
  return InvalidArgument(call.op, " node '", call.node, "' is the second of instance ",
                         call.instance_key, " of group ", call.group_key, " on device ",
                         call.device, ": a device is one member");
}

}  // namespace

Collectives::RoundRef Collectives::RoundOf(Group& group, const std::string& id) {
  RoundRef& round = group.rounds[id];
  if (round == nullptr) {
    round = std::make_shared<Round>();
    round->group_key = group.key;
    round->generation = group.generation;
    round->id = id;
    round->tasks = group.tasks;
    round->rank = group.rank;
    round->num_members = group.size;
  }
  return round;
}

void Collectives::Enter(Group& group, const CallRef& call, Later& later) {
  const CollectiveCall& r = call->request;
  const std::string instance = StrCat(r.instance_key, "/", r.iteration);
  const std::string id =
      group.is_of_one_step
          ? StrCat(instance, "/", r.step_id)
          : StrCat(instance, "/#", group.calls[std::make_pair(r.device, instance)]++);
  if (const absl::Status failed = group.Failure(id); !failed.ok()) {
    return EndCall(call, failed, later);
  }
  if (r.iteration.empty() && group.ended.contains(id)) return EndCall(call, TooMany(r), later);
  const RoundRef round = RoundOf(group, id);
  call->round = round;
  if (const absl::Status fits = AddCall(*round, call); !fits.ok()) {
    return FailRound(group, round, fits, later);
  }
  if (round->calls.size() < group.local.size()) return;
  round->is_complete = true;
  std::sort(round->calls.begin(), round->calls.end(), [&](const CallRef& a, const CallRef& b) {
    const auto at = [&](const CallRef& c) {
      return std::find(group.local.begin(), group.local.end(), c->request.device);
    };
    return at(a) < at(b);
  });
  later.Do([self = shared_from_this(), round] { self->Combine(round); });
}

absl::Status Collectives::AddCall(Round& round, const CallRef& call) {
  const CollectiveCall& r = call->request;
  round.calls.push_back(call);
  SLUICE_RETURN_IF_ERROR(CheckFits(round, *call));
  if (round.agreement.empty()) round.agreement = Agreement(r);
  for (const auto& [name, request] : round.requests) {
    if (request.call != round.agreement) {
      return Disagreement(r.instance_key, r.device, round.agreement, request.call);
    }
  }
  return absl::OkStatus();
}

absl::Status Collectives::CheckFits(const Round& round, const Call& call) const {
  const CollectiveCall& r = call.request;
  for (const CallRef& other : round.calls) {
    const CollectiveCall& o = other->request;
    if (other.get() == &call) continue;
    if (o.device == r.device) {
      return TooMany(r);
    }
    if (o.is_source && r.is_source) {
      return absl::InternalError(StrCat("Instance ", r.instance_key, " already has source ",
                                        o.device, ", received second claim from ", r.device));
    }
  }
  const std::string mine = Agreement(r);
  if (round.agreement.empty() || round.agreement == mine) return absl::OkStatus();
  return Disagreement(r.instance_key, r.device, mine, round.agreement);
}

void Collectives::FailRound(Group& group, const RoundRef& round, const absl::Status& status,
                            Later& later) {
  if (round->is_ended) return;
  // Other tasks are lost or in another state, so the group cannot continue.
  const bool is_broken =
      !group.is_of_one_step || absl::IsUnavailable(status) || absl::IsAborted(status);
  if (is_broken && group.generation == round->generation) return Break(group, status, later);
  round->is_ended = true;
  for (const CallRef& call : round->calls) EndCall(call, status, later);
  for (auto& [name, request] : round->requests) {
    if (request.cancellation != nullptr) request.cancellation->TryDeregister(request.token);
    later.Do([done = std::move(request.done), status] { done(status); });
  }
  round->requests.clear();
  round->posted.clear();
  later.Do([round] { round->fetches.StartCancel(); });
  if (group.generation != round->generation) return;
  group.rounds.erase(round->id);
  group.failed.emplace_back(round->id, status);
  if (group.failed.size() > kRememberedFailures) group.failed.pop_front();
}

void Collectives::Break(Group& group, const absl::Status& status, Later& later) {
  broken_.emplace_back(group.generation, status);
  if (broken_.size() > kRememberedFailures) broken_.pop_front();
  if (!group.is_of_one_step) {
    for (const std::string& device : group.joined) group.unreported.emplace(device, status);
  }
  const auto rounds = std::move(group.rounds);
  group.rounds.clear();
  group.generation = 0;
  group.joined.clear();
  group.calls.clear();
  group.failed.clear();
  group.ended.clear();
  group.ended_order.clear();
  for (const auto& [id, round] : rounds) {
    if (!round->is_ended) {
      for (const CallRef& call : round->calls) group.unreported.erase(call->request.device);
    }
    FailRound(group, round, status, later);
  }
}

// Posted messages stay until they are fetched.
void Collectives::ForgetIfDone(Group& group, const RoundRef& round) {
  if (round->is_ended && round->posted.empty() && round->requests.empty()) {
    group.rounds.erase(round->id);
  }
}

// --- between tasks

void Collectives::Serve(const CollectiveMessage& message, CancellationManager* cancellation,
                        CollectiveNetwork::Done done) {
  Later later;
  ScopedLock lock(&mutex_);
  Request request{message.call, cancellation, 0, std::move(done)};
  const auto refuse = [&](const absl::Status& status) {
    later.Do([answer = std::move(request.done), status] { answer(status); });
  };
  if (!stopped_.ok()) return refuse(stopped_);
  auto it = groups_.find(message.group_key);
  if (it != groups_.end() && it->second->generation == message.generation) {
    return Answer(*it->second, message.round, message.name, std::move(request), later);
  }
  for (const auto& [generation, status] : broken_) {
    if (generation == message.generation) return refuse(status);
  }
  if (it != groups_.end()) {
    auto joining = it->second->joining.find(message.from.device);
    if (joining != it->second->joining.end() && joining->second.ticket == message.from.ticket) {
      joining->second.early.emplace_back(message, std::move(request));
      return;
    }
  }
  refuse(absl::AbortedError(StrCat("member ", message.from.device,
                                   " is no longer in collective group ", message.group_key,
                                   ": its task was started again, or its step "
                                   "was cancelled")));
}

void Collectives::Answer(Group& group, const std::string& round_id, const std::string& name,
                         Request request, Later& later) {
  if (const absl::Status failed = group.Failure(round_id); !failed.ok()) {
    return later.Do([done = std::move(request.done), failed] { done(failed); });
  }
  const RoundRef round = RoundOf(group, round_id);
  if (!round->agreement.empty() && round->agreement != request.call) {
    const int instance = std::atoi(round_id.c_str());
    const std::string& device = round->tasks[round->rank].device;
    const absl::Status status = Disagreement(instance, device, round->agreement, request.call);
    later.Do([done = std::move(request.done), status] { done(status); });
    return FailRound(group, round, status, later);
  }
  if (auto posted = round->posted.find(name); posted != round->posted.end()) {
    later.Do([done = std::move(request.done), value = std::move(posted->second)]() mutable {
      done(std::move(value));
    });
    round->posted.erase(posted);
    return ForgetIfDone(group, round);
  }
  if (request.cancellation != nullptr) {
    request.token = request.cancellation->NewToken();
    // Runs if the requesting task is lost. The task's own messages will then be missing in the
    // exchange.
    const auto give_up = [self = shared_from_this(), round, name] {
      CollectiveNetwork::Done done;
      {
        ScopedLock lock(&self->mutex_);
        auto it = round->requests.find(name);
        if (it == round->requests.end()) return;
        done = std::move(it->second.done);
        round->requests.erase(it);
      }
      done(absl::CancelledError("the requesting member is lost"));
    };
    if (!request.cancellation->Register(request.token, give_up)) {
      return later.Do([done = std::move(request.done)] { done(absl::CancelledError("")); });
    }
  }
  round->requests.emplace(name, std::move(request));
}

void Collectives::Post(const RoundRef& round, const std::string& name, Tensor value) {
  Later later;
  ScopedLock lock(&mutex_);
  if (round->is_ended) return;
  auto it = round->requests.find(name);
  if (it == round->requests.end()) {
    round->posted.emplace(name, std::move(value));
    return;
  }
  if (it->second.cancellation != nullptr) it->second.cancellation->TryDeregister(it->second.token);
  later.Do([done = std::move(it->second.done), value = std::move(value)]() mutable {
    done(std::move(value));
  });
  round->requests.erase(it);
}

void Collectives::Fetch(const RoundRef& round, int from, const std::string& name,
                        std::function<void(absl::StatusOr<Tensor>)> done) {
  CollectiveMessage message{
      round->group_key, round->generation, round->tasks[from], round->id, name, round->agreement};
  const std::string task = TaskOfDevice(message.from.device);
  {
    ScopedLock lock(&mutex_);
    round->fetching.insert(task);
  }
  network_->Fetch(message, &round->fetches,
                  [self = shared_from_this(), round, task,
                   done = std::move(done)](absl::StatusOr<Tensor> value) {
                    {
                      ScopedLock lock(&self->mutex_);
                      round->fetching.erase(round->fetching.find(task));
                    }
                    done(std::move(value));
                  });
}

}  // namespace sluice
