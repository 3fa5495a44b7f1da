// Calls functions at given times, from one thread of the process.
//
// Thread safety: Run may be called from any thread. Functions run without a lock, one after
// another, and must return soon.
#ifndef SLUICE_OPS_STAGING_TIMER_H_
#define SLUICE_OPS_STAGING_TIMER_H_

#include <chrono>
#include <functional>
#include <map>

#include "absl/status/status.h"
#include "graph/mutex.h"

namespace sluice {

class Timer {
 public:
  using Clock = std::chrono::steady_clock;
  // Lives as long as the process.
  static Timer& Global();
  // Calls `f` at `when`. RESOURCE_EXHAUSTED if the first call cannot start the thread.
  absl::Status Run(Clock::time_point when, std::function<void()> f);

 private:
  Timer() = default;
  void Loop();

  Mutex mutex_;
  CondVar changed_;
  std::multimap<Clock::time_point, std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_TIMER_H_
