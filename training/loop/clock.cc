#include "training/loop/clock.h"

#include <algorithm>

namespace sluice {

void Wake::Set() {
  std::lock_guard<std::mutex> lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

void Wake::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  set_ = false;
}

bool Wake::is_set() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return set_;
}

bool Clock::WaitReal(Wake& wake, std::optional<Duration> time) {
  std::unique_lock<std::mutex> lock(wake.mutex_);
  const auto set = [&] { return wake.set_; };
  if (!time) {
    wake.changed_.wait(lock, set);
    return true;
  }
  return wake.changed_.wait_for(lock, *time, set);
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
  std::lock_guard<std::mutex> lock(mutex_);
  return now_;
}

bool ManualClock::Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) {
  std::optional<Duration> end;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (time) end = now_ + *time;
    waiting_.push_back(wake);
    ++waits_;
    changed_.notify_all();
  }
  while (true) {
    std::unique_lock<std::mutex> lock(wake->mutex_);
    const int pokes = wake->pokes_;
    const bool set = wake->set_;
    lock.unlock();
    // A poke between the two locks changes `pokes_`, so that the wait below ends at once.
    if (set || (end && Now() >= *end)) break;
    lock.lock();
    wake->changed_.wait(lock, [&] { return wake->set_ || wake->pokes_ != pokes; });
  }
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), wake));
  return wake->is_set();
}

void ManualClock::Advance(Duration time) {
  std::vector<std::shared_ptr<Wake>> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    now_ += time;
    waiting = waiting_;
  }
  for (const auto& wake : waiting) {
    std::lock_guard<std::mutex> lock(wake->mutex_);
    ++wake->pokes_;
    wake->changed_.notify_all();
  }
}

void ManualClock::AwaitWaiting(int n) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return static_cast<int>(waiting_.size()) >= n; });
}

void ManualClock::AwaitWaits(int n) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return waits_ >= n; });
}

}  // namespace sluice
