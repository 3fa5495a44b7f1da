// Writes the log of a server: one line per event on stderr, with a level, a name and named values.
//
//   LogEvent(LogLevel::kWarning, "connection_rejected", {{"client", peer}, {"open", StrCat(n)}});
//   2026-11-27T08:15:02.125Z WARNING connection_rejected client=ipv4:10.0.0.7:41200 open=384
//
// Per period of kEventPeriod, at most kEventsPerPeriod lines are written for each event name. The
// next line with that name then says how many were left out before it: suppressed=12.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_EVENTS_EVENT_LOG_H_
#define SLUICE_DISTRIBUTED_EVENTS_EVENT_LOG_H_

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace sluice {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

inline constexpr int kEventsPerPeriod = 10;
inline constexpr auto kEventPeriod = std::chrono::seconds(10);

struct EventLogOptions {
  LogLevel level = LogLevel::kInfo;  // events below it are dropped
  LogFormat format = LogFormat::kText;
  std::function<void(const std::string& line)> sink;  // null: stderr
};
void SetEventLog(EventLogOptions options);

// `level` is "debug", "info", "warning" or "error". `format` is "text" or "json". INVALID_ARGUMENT
// for other words.
absl::Status ParseLogOptions(const std::string& level, const std::string& format,
                             EventLogOptions* options);

using EventFields = std::vector<std::pair<const char*, std::string>>;
// Returns the JSON object of an event, with a line break. It has no level if `level` is null.
std::string JsonLine(const char* level, const char* event, const EventFields& fields);
void LogEvent(LogLevel level, const char* event, const EventFields& fields = {});

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_EVENTS_EVENT_LOG_H_
