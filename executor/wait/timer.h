// Calls functions at later times. All of them run on one thread, which starts when the first
// function is scheduled.
//
// Thread safety: all methods may be called from any thread. Functions run without a lock, one after
// another, and must return soon.
//
// Lifetime: the timer lives as long as the process.
#ifndef SLUICE_EXECUTOR_WAIT_TIMER_H_
#define SLUICE_EXECUTOR_WAIT_TIMER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "graph/mutex.h"

namespace sluice {

class Timer {
 public:
  static Timer& Global();

  using Id = int64_t;
  // Calls `function` after `delay`. Returns an id for Drop, which is never 0. RESOURCE_EXHAUSTED if
  // the thread cannot be started.
  absl::StatusOr<Id> After(std::chrono::nanoseconds delay, std::function<void()> function);
  // Removes the function if it has not been called yet. If it is running, Drop does not wait for
  // its end.
  void Drop(Id id);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void Run();

  Mutex mutex_;
  CondVar changed_;
  std::map<std::pair<Time, Id>, std::function<void()>> due_ ABSL_GUARDED_BY(mutex_);
  std::map<Id, Time> times_ ABSL_GUARDED_BY(mutex_);
  Id next_ ABSL_GUARDED_BY(mutex_) = 1;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_TIMER_H_
