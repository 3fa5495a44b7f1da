#include "distributed/events/audit_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

struct State {
  Mutex mutex;
  std::string path ABSL_GUARDED_BY(mutex);
  int file ABSL_GUARDED_BY(mutex) = -1;
  std::atomic<bool> is_open{false};
};

State& Log() {
  static auto* const state = new State;
  return *state;
}

// Writes all of the line. Returns 0, or errno after an error.
int WriteLine(int file, const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = write(file, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

absl::Status OpenAuditLog(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return absl::UnavailableError(
        StrCat("the audit log '", path, "' cannot be opened: ", std::strerror(errno)));
  }
  State& state = Log();
  ScopedLock lock(&state.mutex);
  state.path = path;
  if (const int former = std::exchange(state.file, file); former >= 0) close(former);
  state.is_open.store(true);
  return absl::OkStatus();
}

absl::Status ReopenAuditLog() {
  std::string path;
  {
    State& state = Log();
    ScopedLock lock(&state.mutex);
    path = state.path;
  }
  return path.empty() ? absl::OkStatus() : OpenAuditLog(path);
}

bool IsAudited() { return Log().is_open.load(std::memory_order_relaxed); }

void Audit(const char* event, const EventFields& fields) {
  if (!IsAudited()) return;
  const std::string line = JsonLine(nullptr, event, fields);
  int error;
  {
    State& state = Log();
    ScopedLock lock(&state.mutex);
    error = WriteLine(state.file, line);
  }
  if (error == 0) return;
  LogEvent(LogLevel::kError, "audit_failed", {{"error", std::strerror(error)}});
}

}  // namespace sluice
