#include "distributed/server/watchdog.h"

#include <string>
#include <utility>

#include "distributed/events/event_log.h"

namespace sluice {

Watchdog::Watchdog(std::chrono::milliseconds interval, Duties duties)
    : interval_(interval), duties_(std::move(duties)), thread_([this] { Run(); }) {}

Watchdog::~Watchdog() { Stop(); }

void Watchdog::Stop() {
  {
    ScopedLock lock(&mutex_);
    stops_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
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
    lock.Lock();
    if (!status.ok()) {
      LogEvent(LogLevel::kError, "not_accepting", {{"error", std::string(status.message())}});
    } else if (!accepting_.ok()) {
      LogEvent(LogLevel::kInfo, "accepting_again");
    }
    accepting_ = status;
  }
}

}  // namespace sluice
