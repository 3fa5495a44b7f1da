#include "training/loop/log.h"

#include <unistd.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "graph/mutex.h"

namespace sluice {
namespace {

// The state of the process's log.
struct LogState {
  Mutex mutex;
  LogSink sink ABSL_GUARDED_BY(mutex);
  std::string live ABSL_GUARDED_BY(mutex);  // the text of the live line; "" if there is none
};

LogState& State() {
  static auto* state = new LogState;
  return *state;
}

const char* Prefix(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kInfo:
      return "INFO: ";
    case LogSeverity::kWarning:
      return "WARNING: ";
    case LogSeverity::kError:
      return "ERROR: ";
  }
  return "";
}

// Replaces the current line by `text`. "\r\x1b[K" moves to the start of the line and erases it.
void Rewrite(std::string_view text) {
  std::fprintf(stderr, "\r\x1b[K%.*s", static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
}

}  // namespace

LogSink SetLogSink(LogSink sink) {
  LogState& state = State();
  ScopedLock lock(&state.mutex);
  return std::exchange(state.sink, std::move(sink));
}

void Log(LogSeverity severity, const std::string& line) {
  LogState& state = State();
  ScopedLock lock(&state.mutex);
  if (state.sink) return state.sink(severity, line);
  if (!state.live.empty()) Rewrite("");
  std::fprintf(stderr, "%s%s\n", Prefix(severity), line.c_str());
  if (!state.live.empty()) Rewrite(state.live);
}

bool LiveLine::StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

LiveLine::LiveLine(bool terminal) : terminal_(terminal) {}

LiveLine::~LiveLine() {
  LogState& state = State();
  ScopedLock lock(&state.mutex);
  if (!state.live.empty()) std::fprintf(stderr, "\n");
  state.live.clear();
}

void LiveLine::Show(std::string_view text) {
  if (!terminal_) return;
  LogState& state = State();
  ScopedLock lock(&state.mutex);
  state.live = text;
  Rewrite(text);
}

}  // namespace sluice
