// Writes the log of training loops: lines on stderr, or in a sink that the program sets.
//
//   LogInfo("Saving checkpoints for ", step, " into ", path, ".");
//
// On a terminal a live line (a progress bar) may stand below the log. It is rewritten in place, and
// lines of the log are printed above it.
// Thread safety: all functions may be called from any thread. One thread at a time calls the sink,
// which must not log.
#ifndef SLUICE_TRAINING_LOOP_LOG_H_
#define SLUICE_TRAINING_LOOP_LOG_H_

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "graph/strings.h"

namespace sluice {

enum class LogSeverity { kInfo, kWarning, kError };
using LogSink = std::function<void(LogSeverity, const std::string& line)>;

// Sets the function that receives all lines, and returns the previous one. If `sink` is empty,
// lines are written to stderr, with the severity in front ("INFO: …").
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

// A line of text below the log on a terminal, such as a progress bar, which Show rewrites in place.
// At most one object exists at a time. If `terminal` is false, Show does nothing.
class LiveLine {
 public:
  explicit LiveLine(bool terminal = StderrIsTerminal());
  // Leaves the text on the terminal and starts a new line.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool on_terminal() const { return terminal_; }
  // Replaces the text.
  void Show(std::string_view text);
  static bool StderrIsTerminal();

 private:
  const bool terminal_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_LOOP_LOG_H_
