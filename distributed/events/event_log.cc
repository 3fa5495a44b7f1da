#include "distributed/events/event_log.h"

#include <cstdio>
#include <map>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "graph/json.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};
constexpr const char* kLevelNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

// Counts the lines of one event name in the present period (kEventPeriod).
struct Period {
  Clock::time_point begin;
  int lines = 0;
  int64_t suppressed = 0;
};

struct State {
  Mutex mutex;
  EventLogOptions options ABSL_GUARDED_BY(mutex);
  std::map<std::string, Period> periods ABSL_GUARDED_BY(mutex);  // by event name
};

State& Log() {
  static auto* const state = new State;
  return *state;
}

// The value as it is, or quoted if it has spaces, quotes or control characters.
std::string TextValue(const std::string& value) {
  for (const char c : value) {
    if (c <= ' ' || c == '"' || c == '\\' || c == 0x7f) return JsonQuoted(value);
  }
  return value.empty() ? "\"\"" : value;
}

std::string Now() {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
}

std::string LineOf(LogFormat format, LogLevel level, const char* event, const EventFields& fields) {
  const char* const name = kLevelNames[static_cast<int>(level)];
  if (format == LogFormat::kJson) return JsonLine(name, event, fields);
  std::string line = StrCat(Now(), " ", name, " ", event);
  for (const auto& [key, value] : fields) StrAppend(&line, " ", key, "=", TextValue(value));
  return line + "\n";
}

// Counts the event. Returns false if its line is left out. Otherwise sets `suppressed` to the
// number of lines that were left out before it.
bool MayLog(Period& period, int64_t* suppressed) {
  const Clock::time_point now = Clock::now();
  if (now - period.begin >= kEventPeriod) {
    period.begin = now;
    period.lines = 0;
  }
  if (period.lines == kEventsPerPeriod) {
    ++period.suppressed;
    return false;
  }
  ++period.lines;
  *suppressed = std::exchange(period.suppressed, 0);
  return true;
}

}  // namespace

std::string JsonLine(const char* level, const char* event, const EventFields& fields) {
  std::string line = StrCat("{\"time\": \"", Now(), "\"");
  if (level != nullptr) StrAppend(&line, ", \"level\": ", JsonQuoted(level));
  StrAppend(&line, ", \"event\": ", JsonQuoted(event));
  for (const auto& [key, value] : fields) {
    StrAppend(&line, ", ", JsonQuoted(key), ": ", JsonQuoted(value));
  }
  return line + "}\n";
}

void SetEventLog(EventLogOptions options) {
  State& state = Log();
  ScopedLock lock(&state.mutex);
  state.options = std::move(options);
  state.periods.clear();
}

absl::Status ParseLogOptions(const std::string& level, const std::string& format,
                             EventLogOptions* options) {
  int found = -1;
  for (int i = 0; i < 4; ++i) {
    if (level == kLevels[i]) found = i;
  }
  SLUICE_INVALID_IF(found < 0, "log level: expected debug, info, warning or error, got '", level,
                    "'");
  SLUICE_INVALID_IF(format != "text" && format != "json",
                    "log format: expected text or json, got '", format, "'");
  options->level = static_cast<LogLevel>(found);
  options->format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  return absl::OkStatus();
}

void LogEvent(LogLevel level, const char* event, const EventFields& fields) {
  State& state = Log();
  ScopedLock lock(&state.mutex);
  if (level < state.options.level) return;
  int64_t suppressed = 0;
  if (!MayLog(state.periods[event], &suppressed)) return;
  EventFields all = fields;
  if (suppressed > 0) all.emplace_back("suppressed", StrCat(suppressed));
  const std::string line = LineOf(state.options.format, level, event, all);
  if (state.options.sink) return state.options.sink(line);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace sluice
