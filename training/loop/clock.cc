#include "training/loop/clock.h"

#include <algorithm>

namespace sluice {

void Wake::Set() {
  ScopedLock lock(&mutex_);
  set_ = true;
  changed_.NotifyAll();
}

void Wake::Reset() {
  ScopedLock lock(&mutex_);
  set_ = false;
}

bool Wake::is_set() const {
  ScopedLock lock(&mutex_);
  return set_;
}

bool Clock::WaitReal(Wake& wake, std::optional<Duration> time) {
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> deadline;
  if (time) deadline = Steady::now() + std::chrono::ceil<Steady::duration>(*time);
  ScopedLock lock(&wake.mutex_);
  while (!wake.set_) {
    if (!deadline) {
      wake.changed_.Wait(&wake.mutex_);
    } else if (!wake.changed_.WaitUntil(&wake.mutex_, *deadline)) {
      break;
    }
  }
  return wake.set_;
}

namespace {

class RealClock final : public Clock {
 public:
  Duration Now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
  bool Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) override {
    return WaitReal(*wake, time);
  }
};

}  // namespace

Clock& Clock::Real() {
  static auto* clock = new RealClock;
  return *clock;
}

Clock::Duration ManualClock::Now() {
  ScopedLock lock(&mutex_);
  return now_;
}

bool ManualClock::Wait(const std::shared_ptr<Wake>& shared_wake, std::optional<Duration> time) {
  Wake& wake = *shared_wake;
  std::optional<Duration> end;
  {
    ScopedLock lock(&mutex_);
    if (time) end = now_ + *time;
    waiting_.push_back(shared_wake);
    ++waits_;
    changed_.NotifyAll();
  }
  while (true) {
    int clock_changes;
    {
      ScopedLock lock(&wake.mutex_);
      if (wake.set_) break;
      clock_changes = wake.clock_changes_;
    }
    if (end && Now() >= *end) break;
    // If the clock has advanced since Now, the loop below ends at once.
    ScopedLock lock(&wake.mutex_);
    while (!wake.set_ && wake.clock_changes_ == clock_changes) wake.changed_.Wait(&wake.mutex_);
  }
  ScopedLock lock(&mutex_);
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), shared_wake));
  return wake.is_set();
}

void ManualClock::Advance(Duration time) {
  std::vector<std::shared_ptr<Wake>> waiting;
  {
    ScopedLock lock(&mutex_);
    now_ += time;
    waiting = waiting_;
  }
  for (const auto& shared_wake : waiting) {
    Wake& wake = *shared_wake;
    ScopedLock lock(&wake.mutex_);
    ++wake.clock_changes_;
    wake.changed_.NotifyAll();
  }
}

void ManualClock::AwaitWaiting(int n) {
  ScopedLock lock(&mutex_);
  while (static_cast<int>(waiting_.size()) < n) changed_.Wait(&mutex_);
}

void ManualClock::AwaitWaits(int n) {
  ScopedLock lock(&mutex_);
  while (waits_ < n) changed_.Wait(&mutex_);
}

}  // namespace sluice
