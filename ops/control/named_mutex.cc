#include "ops/control/named_mutex.h"

#include <algorithm>

#include "graph/strings.h"

namespace sluice {

std::string NamedMutex::DebugString() const { return StrCat("mutex '", name_, "': ", State()); }

std::string NamedMutex::State() const {
  std::lock_guard lock(mutex_);
  if (!is_held_) return "free";
  return StrCat("held by '", holder_, "', ", line_.size(), " waiting");
}

Variant NamedMutex::NewHold() { return Variant(std::make_shared<MutexHold>(shared_from_this())); }

void NamedMutex::Acquire(const Caller& caller, Taken taken) {
  std::unique_lock lock(mutex_);
  if (!is_held_) {
    is_held_ = true;
    holder_ = std::string(caller.node);
    lock.unlock();
    return taken(NewHold());
  }
  auto waiting = std::make_shared<Waiting>();
  waiting->taken = std::move(taken);
  waiting->node = std::string(caller.node);
  auto self = shared_from_this();
  // With the lock held: whoever cancels or releases finds the waiting one in its line.
  const bool started = waiting->wait.Start(
      caller, StrCat("mutex '", name_, "'"), [self, waiting] { self->Cancel(waiting); },
      [self] { return self->State(); });
  if (started) {
    line_.push_back(std::move(waiting));
    return;
  }
  lock.unlock();
  waiting->taken(absl::CancelledError("Lock acquisition cancelled."));
}

void NamedMutex::Cancel(const std::shared_ptr<Waiting>& waiting) {
  {
    std::lock_guard lock(mutex_);
    auto it = std::find(line_.begin(), line_.end(), waiting);
    if (it == line_.end()) return;  // it has the mutex
    line_.erase(it);
  }
  waiting->wait.End();
  waiting->taken(absl::CancelledError("Lock acquisition cancelled."));
}

void NamedMutex::Release() {
  std::shared_ptr<Waiting> next;
  {
    std::lock_guard lock(mutex_);
    is_held_ = !line_.empty();
    if (!is_held_) return;
    next = std::move(line_.front());
    line_.pop_front();
    holder_ = next->node;
  }
  next->wait.End();
  next->taken(NewHold());
}

bool MutexHold::Consume() const {
  if (is_released_.exchange(true)) return false;
  mutex_->Release();
  return true;
}

}  // namespace sluice
