#include "executor/wait/timer.h"

#include <utility>

#include "executor/wait/thread.h"
#include "graph/status.h"

namespace sluice {

Timer& Timer::Global() {
  static Timer* timer = new Timer;
  return *timer;
}

absl::StatusOr<Timer::Id> Timer::After(std::chrono::nanoseconds delay,
                                       std::function<void()> function) {
  ScopedLock lock(&mutex_);
  if (!is_running_) {
    SLUICE_RETURN_IF_ERROR(StartDetached("timer", ThreadUse::kProcess, [this] { Run(); }));
    is_running_ = true;
  }
  const Id id = next_++;
  const Time time = std::chrono::steady_clock::now() + delay;
  due_.emplace(std::make_pair(time, id), std::move(function));
  times_.emplace(id, time);
  changed_.NotifyOne();
  return id;
}

void Timer::Drop(Id id) {
  ScopedLock lock(&mutex_);
  auto it = times_.find(id);
  if (it == times_.end()) return;
  due_.erase({it->second, id});
  times_.erase(it);
}

void Timer::Run() {
  ScopedLock lock(&mutex_);
  for (;;) {
    if (due_.empty()) {
      changed_.Wait(&mutex_);
      continue;
    }
    auto first = due_.begin();
    const Time time = first->first.first;
    if (std::chrono::steady_clock::now() < time) {
      changed_.WaitUntil(&mutex_, time);
      continue;
    }
    const std::function<void()> function = std::move(first->second);
    times_.erase(first->first.second);
    due_.erase(first);
    lock.Unlock();
    function();
    lock.Lock();
  }
}

}  // namespace sluice
