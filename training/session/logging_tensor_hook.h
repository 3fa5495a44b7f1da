// A hook that logs tensors during training: on a terminal it rewrites one line, elsewhere it adds
// plain lines to the log.
//
//   hooks.push_back(Progress({{"loss", loss}}, 10'000));
//
// The first of these lines is for terminals, the second one is plain:
//
//   step 4200/10000 [########------------] 42 %  loss = 0.31, 812 steps/s, ETA 0:07
//   INFO: loss = 0.31 (0.123 sec)
//
// Thread safety: as SessionRunHook: only the loop's thread calls it.
// Ownership: the loop shares ownership of its hooks. The tensors belong to the loop's graph.
// Errors: those of Begin below. Tensors are fetched with the step, so errors of their nodes are
// errors of the step.
// Reference for the plain lines: tf.estimator.LoggingTensorHook.
#ifndef SLUICE_TRAINING_SESSION_LOGGING_TENSOR_HOOK_H_
#define SLUICE_TRAINING_SESSION_LOGGING_TENSOR_HOOK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/loop/clock.h"
#include "training/loop/log.h"
#include "training/session/session_run_hook.h"
#include "training/session/step_timer.h"

namespace sluice {

// Tags with tensors, in the order of display.
using TaggedTensors = std::vector<std::pair<std::string, Output>>;
using TaggedValues = std::vector<std::pair<std::string, Tensor>>;

// Options of LoggingTensorHook. At least one of `every` and `at_end` must be set.
struct LoggingTensorOptions {
  // Interval of logging, in steps of this loop or in seconds. The first step is logged. If neither
  // is set, the hook logs only at the end.
  Every every;
  // Whether to log once more after the last step. The tensors are then computed in a further step.
  bool at_end = false;
  // Formats the tensors. Empty: "<tag> = <value>, …". Called by the loop's thread.
  std::function<std::string(const TaggedValues& values)> formatter;
  // The global step at which training ends. On a terminal, it determines the progress bar and the
  // remaining time. Nullopt: neither is shown.
  std::optional<int64_t> last_step;
  // Whether to rewrite one line of a terminal, instead of adding a line to the log each time.
  bool terminal = LiveLine::StderrIsTerminal();
  // Must outlive the hook.
  Clock* clock = &Clock::Real();
};

// Shows the first ten elements of each tensor. Errors of Begin: INVALID_ARGUMENT "either at_end
// and/or exactly one of every_n_iter and every_n_secs must be provided."; "invalid
// every_n_iter=<n>.".
class LoggingTensorHook : public SessionRunHook {
 public:
  LoggingTensorHook(TaggedTensors tensors, LoggingTensorOptions options);
  absl::Status Begin(Graph& graph) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  void Show(const Tensors& results);
  std::string BarLine(int64_t step, const std::string& text);

  const TaggedTensors tensors_;
  const LoggingTensorOptions options_;
  StepTimer timer_;
  std::unique_ptr<LiveLine> live_;  // null unless options_.terminal
  std::vector<Output> fetches_;     // the tensors, then the global step if has_global_step_
  bool has_global_step_ = false;
  bool due_ = false;
  int64_t iterations_ = 0;
  std::optional<std::pair<Clock::Duration, int64_t>>
      start_;  // time and global step of the first line on the terminal
};

// Shows a progress bar over the global step, with `tensors`, steps per second and the remaining
// time. Without a terminal it logs plain lines. `last_step` is usually that of StopAtStep.
std::shared_ptr<SessionRunHook> Progress(TaggedTensors tensors, int64_t last_step,
                                         Every every = {.secs = 0.5});

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_LOGGING_TENSOR_HOOK_H_
