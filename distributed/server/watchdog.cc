#include "distributed/server/watchdog.h"

#include <string>
#include <utility>

#include "distributed/events/event_log.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<std::unique_ptr<Watchdog>> Watchdog::Start(std::chrono::milliseconds interval,
                                                          Duties duties) {
  std::unique_ptr<Watchdog> watchdog(new Watchdog(interval, std::move(duties)));
  SLUICE_ASSIGN_OR_RETURN(
      watchdog->thread_,
      Thread::Start("watchdog", ThreadUse::kProcess, [self = watchdog.get()] { self->Run(); }));
  return watchdog;
}

Watchdog::~Watchdog() { Stop(); }

void Watchdog::Stop() {
  {
    ScopedLock lock(&mutex_);
    stops_ = true;
    stopped_.NotifyAll();
  }
  thread_.Join();
}

absl::Status Watchdog::accepting() {
  ScopedLock lock(&mutex_);
  return accepting_;
}

void Watchdog::Run() {
  ScopedLock lock(&mutex_);
  while (!stops_) {
    if (stopped_.WaitFor(&mutex_, interval_)) continue;
    lock.Unlock();
    const absl::Status status = duties_.check_accepting();
    duties_.close_expired_sessions();
    duties_.return_memory();
    if (!status.ok()) {
      LogEvent(LogLevel::kError, "not_accepting", {{"error", std::string(status.message())}});
    } else if (!accepting().ok()) {
      LogEvent(LogLevel::kInfo, "accepting_again");
    }
    lock.Lock();
    accepting_ = status;
  }
}

}  // namespace sluice
