#include "ops/control/named_mutex.h"

#include <algorithm>

#include "graph/strings.h"

namespace sluice {

std::string NamedMutex::DebugString() const { return StrCat("mutex '", name_, "': ", State()); }

std::string NamedMutex::State() const {
  ScopedLock lock(&mutex_);
  if (!is_held_) return "free";
  return StrCat("held by '", holder_, "', ", queue_.size(), " waiting");
}

Variant NamedMutex::NewHold() { return Variant(std::make_shared<MutexHold>(shared_from_this())); }

void NamedMutex::Acquire(const Caller& caller, Taken taken) {
  ScopedLock lock(&mutex_);
  if (!is_held_) {
    is_held_ = true;
    holder_ = std::string(caller.node);
    lock.Unlock();
    return taken(NewHold());
  }
  auto waiting = std::make_shared<Waiting>();
  waiting->taken = std::move(taken);
  waiting->node = std::string(caller.node);
  auto self = shared_from_this();
  // The lock is held from Start to push_back, so that Cancel and Release find the caller in the
  // queue.
  const bool started = waiting->wait.Start(
      caller, StrCat("mutex '", name_, "'"), [self, waiting] { self->Cancel(waiting); },
      [self] { return self->State(); });
  if (started) {
    queue_.push_back(std::move(waiting));
    return;
  }
  lock.Unlock();
  waiting->taken(absl::CancelledError("Lock acquisition cancelled."));
}

void NamedMutex::Cancel(const std::shared_ptr<Waiting>& waiting) {
  {
    ScopedLock lock(&mutex_);
    auto it = std::find(queue_.begin(), queue_.end(), waiting);
    if (it == queue_.end()) return;  // it holds the mutex
    queue_.erase(it);
  }
  waiting->wait.End();
  waiting->taken(absl::CancelledError("Lock acquisition cancelled."));
}

void NamedMutex::Release() {
  std::shared_ptr<Waiting> next;
  {
    ScopedLock lock(&mutex_);
    is_held_ = !queue_.empty();
    if (!is_held_) return;
    next = std::move(queue_.front());
    queue_.pop_front();
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
