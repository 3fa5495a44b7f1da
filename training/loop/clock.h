// Clocks of training loops, which measure the intervals of hooks and limit waits. Tests use a
// ManualClock, so that no test waits for time to pass.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_TRAINING_LOOP_CLOCK_H_
#define SLUICE_TRAINING_LOOP_CLOCK_H_

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "graph/mutex.h"

namespace sluice {

// A flag that ends a wait (Clock::Wait) early. It stays set until Reset.
class Wake {
 public:
  void Set();
  void Reset();
  bool is_set() const;

 private:
  friend class Clock;
  friend class ManualClock;
  mutable Mutex mutex_;
  CondVar changed_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
  int clock_changes_ ABSL_GUARDED_BY(mutex_) = 0;  // number of advances of a ManualClock
};

class Clock {
 public:
  using Duration = std::chrono::duration<double>;  // seconds
  virtual ~Clock() = default;
  // The machine's steady clock.
  static Clock& Real();

  // Time since a fixed moment in the past.
  virtual Duration Now() = 0;
  // Blocks until `wake` is set or `time` has passed. Nullopt: no time limit. Returns whether `wake`
  // is set.
  virtual bool Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) = 0;

 protected:
  static bool WaitReal(Wake& wake, std::optional<Duration> time);
};

// A clock for tests, whose time changes only when Advance is called.
class ManualClock final : public Clock {
 public:
  Duration Now() override;
  bool Wait(const std::shared_ptr<Wake>& wake, std::optional<Duration> time) override;
  void Advance(Duration time);
  // Blocks until `n` calls of Wait are in progress.
  void AwaitWaiting(int n);
  // Blocks until Wait has been called `n` times in all.
  void AwaitWaits(int n);

 private:
  Mutex mutex_;
  CondVar changed_;
  Duration now_ ABSL_GUARDED_BY(mutex_){0};
  std::vector<std::shared_ptr<Wake>> waiting_ ABSL_GUARDED_BY(mutex_);
  int waits_ ABSL_GUARDED_BY(mutex_) = 0;  // calls of Wait so far
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_CLOCK_H_
