// What a training loop tells people: lines on stderr, or wherever the program sends them.
//
//   LogInfo("Saving checkpoints for ", step, " into ", path, ".");
//
// On a terminal a live line (a progress bar) may stand below the log: it is rewritten in place, and
// lines of the log are printed above it.
// Thread safety: all functions from any thread; a sink is called by one thread at a time.
#ifndef SLUICE_TRAINING_LOOP_LOG_H_
#define SLUICE_TRAINING_LOOP_LOG_H_

#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "graph/strings.h"

namespace sluice {

enum class LogSeverity { kInfo, kWarning, kError };
using LogSink = std::function<void(LogSeverity, const std::string& line)>;

// Where lines go from now on; an empty sink: stderr, with the severity in front ("INFO: …").
// Returns the one before.
LogSink SetLogSink(LogSink sink);
void Log(LogSeverity severity, const std::string& line);

template <typename... Args>
void LogInfo(const Args&... args) {
  Log(LogSeverity::kInfo, StrCat(args...));
}
template <typename... Args>
void LogWarning(const Args&... args) {
  Log(LogSeverity::kWarning, StrCat(args...));
}
template <typename... Args>
void LogError(const Args&... args) {
  Log(LogSeverity::kError, StrCat(args...));
}

// The live line of stderr. One owner at a time; does nothing where stderr is no terminal.
class LiveLine {
 public:
  explicit LiveLine(bool terminal = StderrIsTerminal());
  // Leaves the line as it stands, and ends it.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool on_terminal() const { return terminal_; }
  void Show(std::string_view text);
  static bool StderrIsTerminal();

 private:
  const bool terminal_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_LOG_H_
