// Time as training loops see it: timers of hooks, and waits that look again now and then. Tests
// give a ManualClock, so that no test waits for time to pass.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_TRAINING_LOOP_CLOCK_H_
#define SLUICE_TRAINING_LOOP_CLOCK_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace sluice {

// What ends a wait before its time. Stays set until Reset.
class Wake {
 public:
  void Set();
  void Reset();
  bool is_set() const;

 private:
  friend class Clock;
  friend class ManualClock;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;  // guarded by mutex_
  int pokes_ = 0;     // guarded by mutex_: look at the clock again
};

class Clock {
 public:
  using Duration = std::chrono::duration<double>;  // seconds
  virtual ~Clock() = default;
  // The machine's steady clock.
  static Clock& Real();

  // Since some moment in the past.
  virtual Duration Now() = 0;
  // Blocks until the wake is set or the time is over (nullopt: without end). True if it is set.
  virtual bool Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) = 0;

 protected:
  static bool WaitReal(Wake& wake, std::optional<Duration> time);
};

// A clock that stands still until it is told to go on.
class ManualClock final : public Clock {
 public:
  Duration Now() override;
  bool Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) override;
  void Advance(Duration time);
  // Returns when `n` calls of Wait are blocked.
  void AwaitWaiting(int n);
  // Returns when Wait was called `n` times since the start.
  void AwaitWaits(int n);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Duration now_{0};                             // guarded by mutex_
  std::vector<std::shared_ptr<Wake>> waiting_;  // guarded by mutex_
  int waits_ = 0;                               // guarded by mutex_: calls of Wait so far
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_CLOCK_H_
