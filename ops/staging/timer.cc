#include "ops/staging/timer.h"

#include <utility>

#include "executor/wait/thread.h"
#include "graph/status.h"

namespace sluice {

Timer& Timer::Global() {
  static Timer* timer = new Timer;
  return *timer;
}

absl::Status Timer::Run(Clock::time_point when, std::function<void()> f) {
  ScopedLock lock(&mutex_);
  if (!is_running_) {
    SLUICE_RETURN_IF_ERROR(
        StartDetached("timer of batches", ThreadUse::kProcess, [this] { Loop(); }));
    is_running_ = true;
  }
  waiting_.emplace(when, std::move(f));
  changed_.NotifyAll();
  return absl::OkStatus();
}

void Timer::Loop() {
  ScopedLock lock(&mutex_);
  while (true) {
    if (waiting_.empty()) {
      changed_.Wait(&mutex_);
    } else if (const auto first = waiting_.begin(); first->first > Clock::now()) {
      changed_.WaitUntil(&mutex_, first->first);
    } else {
      const std::function<void()> f = std::move(first->second);
      waiting_.erase(first);
      lock.Unlock();
      f();
      lock.Lock();
    }
  }
}

}  // namespace sluice
