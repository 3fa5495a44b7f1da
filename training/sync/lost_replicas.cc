#include "training/sync/lost_replicas.h"

#include <optional>

#include "executor/wait/stalls.h"
#include "graph/status.h"
#include "training/loop/log.h"

namespace sluice {
namespace {

const char* What(OnLostReplica action) {
  switch (action) {
    case OnLostReplica::kWait:
      return "updates that need it wait for it";
    case OnLostReplica::kShrink:
      return "updates have fewer gradients until it is back";
    case OnLostReplica::kFail:
      return "training ends";
  }
  return "";
}

std::string Name(const ReplicaNews& news) {
  return StrCat("replica ", news.replica, " (", news.who, ")");
}

}  // namespace

absl::StatusOr<OnLostReplica> ParseOnLostReplica(const std::string& text) {
  if (text == "wait") return OnLostReplica::kWait;
  if (text == "shrink") return OnLostReplica::kShrink;
  if (text == "fail") return OnLostReplica::kFail;
  return InvalidArgument("on_lost_replica: expected wait, shrink or fail, got '", text, "'");
}

LostReplicas::~LostReplicas() {
  ScopedLock lock(&mutex_);
  for (const auto& [replica, lost] : lost_) Stalls::Global().Close(lost.stall);
}

void LostReplicas::Hear(const ReplicaNews& news) {
  std::optional<Stalls::Entry> over;
  {
    ScopedLock lock(&mutex_);
    if (news.state == ReplicaNews::kLost) {
      if (there_.erase(news.replica) == 0) return;
      LogWarning(name_, ": ", Name(news), " is lost: ", news.why, "; ", What(action_));
      Stall stall;
      stall.node = name_;
      stall.op = "SyncReplicas";
      stall.resource = Name(news);
      stall.describe = [why = news.why] { return "lost: " + why; };
      lost_[news.replica] = {news, Stalls::Global().Open(std::move(stall))};
      ++losses_;
    } else {
      if (news.state == ReplicaNews::kThere) {
        there_.insert(news.replica);
      } else {
        there_.erase(news.replica);
      }
      const auto lost = lost_.find(news.replica);
      if (lost == lost_.end()) return;
      LogInfo(name_, ": ", Name(news), " is back");
      over = lost->second.stall;
      lost_.erase(lost);
    }
    changed_.NotifyAll();
  }
  if (over) Stalls::Global().Close(*over);
}

int LostReplicas::num_fit() const {
  ScopedLock lock(&mutex_);
  return fit_;
}

absl::Status LostReplicas::Failure() const {
  std::string lost;
  for (const auto& [replica, l] : lost_) {
    StrAppend(&lost, lost.empty() ? "" : "; ", Name(l.news), " is lost: ", l.news.why);
  }
  return absl::FailedPreconditionError(StrCat(name_, " ends, as on_lost_replica asks: ", lost, "; ",
                                              NumThere(), " of ", replicas_, " replicas are left"));
}

void LostReplicas::Start() {
  ScopedLock lock(&mutex_);
  stopped_ = false;
  fit_ = 0;
  losses_handled_ = losses_;
}

absl::Status LostReplicas::Run(const Resize& resize) {
  ScopedLock lock(&mutex_);
  while (true) {
    while (!stopped_ && !MustResize() && !MustFail()) changed_.Wait(&mutex_);
    if (stopped_) return absl::OkStatus();
    if (MustFail()) return Failure();
    const int replicas = NumThere(), losses = losses_;
    const bool one_was_lost = losses != losses_handled_;
    lock.Unlock();
    const absl::Status resized = resize(replicas, one_was_lost);
    lock.Lock();
    SLUICE_RETURN_IF_ERROR(resized);
    fit_ = replicas;
    losses_handled_ = losses;
  }
}

void LostReplicas::Stop() {
  ScopedLock lock(&mutex_);
  stopped_ = true;
  changed_.NotifyAll();
}

}  // namespace sluice
