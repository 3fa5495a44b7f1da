// Maintains a server. At intervals, it checks that the server accepts connections, closes the
// sessions of dead clients, and returns unused memory to the system.
//
// It uses a timer, because no event reports that the time limit for a lost client has passed, that
// a listener hangs, or that memory is no longer used.
//
// Thread safety: all methods may be called from any thread.
// Lifetime: a thread calls the functions of Duties until Stop, which waits for a running one.
#ifndef SLUICE_DISTRIBUTED_SERVER_WATCHDOG_H_
#define SLUICE_DISTRIBUTED_SERVER_WATCHDOG_H_

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/wait/thread.h"
#include "graph/mutex.h"

namespace sluice {

class Watchdog {
 public:
  struct Duties {
    std::function<absl::Status()> check_accepting;  // may block for some seconds
    std::function<void()> close_expired_sessions;
    std::function<void()> return_memory;
  };
  // RESOURCE_EXHAUSTED if no thread can be started.
  static absl::StatusOr<std::unique_ptr<Watchdog>> Start(std::chrono::milliseconds interval,
                                                         Duties duties);
  ~Watchdog();  // stops
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void Stop();
  // The result of the last check. OK before the first.
  absl::Status accepting();

 private:
  Watchdog(std::chrono::milliseconds interval, Duties duties)
      : interval_(interval), duties_(std::move(duties)) {}
  void Run();

  const std::chrono::milliseconds interval_;
  const Duties duties_;
  Mutex mutex_;
  CondVar stopped_;
  bool stops_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status accepting_ ABSL_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SERVER_WATCHDOG_H_
