// Hooks that write to event files: summaries, steps per second, traces.
//
// Reference: the classes with the same names in tf.estimator.
// Thread safety: as SessionRunHook.
// Errors of Begin: FAILED_PRECONDITION if the graph has no global step; INVALID_ARGUMENT for
// options that exclude each other.
#ifndef SLUICE_TRAINING_SESSION_SUMMARY_HOOKS_H_
#define SLUICE_TRAINING_SESSION_SUMMARY_HOOKS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/loop/clock.h"
#include "training/session/scaffold.h"
#include "training/session/session_run_hook.h"
#include "training/session/step_timer.h"
#include "training/summary/training_events.h"

namespace sluice {

struct SummarySaverOptions {
  Every every;
  std::shared_ptr<TrainingEvents> events;  // null: writes nothing
  // Exactly one of the two: string tensors, or the scaffold whose summary_op is used.
  std::vector<Output> summary_ops;
  std::shared_ptr<Scaffold> scaffold;
  Clock* clock = &Clock::Real();
};

class SummarySaverHook : public SessionRunHook {
 public:
  explicit SummarySaverHook(SummarySaverOptions options)
      : options_(std::move(options)), timer_(options_.every, options_.clock) {}
  absl::Status Begin(Graph& graph) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  SummarySaverOptions options_;
  StepTimer timer_;
  Output global_step_;
  std::optional<int64_t> next_step_;  // none before the first
  bool requested_ = false;
};

struct StepCounterOptions {
  Every every = {.steps = 100};
  std::shared_ptr<TrainingEvents> events;  // null: only logs
  Clock* clock = &Clock::Real();
};

// Reports "<global step>/sec" as a summary and in the log. Warns, at most five times, if the step
// does not advance.
class StepCounterHook : public SessionRunHook {
 public:
  explicit StepCounterHook(StepCounterOptions options = {})
      : options_(std::move(options)), timer_(options_.every, options_.clock) {}
  absl::Status Begin(Graph& graph) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  void WarnIfStanding(int64_t step);

  StepCounterOptions options_;
  StepTimer timer_;
  Output global_step_;
  std::string tag_;
  std::optional<int64_t> last_step_;
  int warnings_ = 0;
};

struct ProfilerOptions {
  Every every;
  std::string output_dir;                  // "" = the current folder
  std::shared_ptr<TrainingEvents> events;  // null: only writes the timeline
  Clock* clock = &Clock::Real();
};

// Traces a step at intervals. Writes `<output_dir>/timeline-<step>.json` for chrome://tracing or
// Perfetto, and the step's statistics to the event file.
class ProfilerHook : public SessionRunHook {
 public:
  explicit ProfilerHook(ProfilerOptions options)
      : options_(std::move(options)), timer_(options_.every, options_.clock) {}
  absl::Status Begin(Graph& graph) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;

 private:
  ProfilerOptions options_;
  StepTimer timer_;
  Output global_step_;
  std::optional<int64_t> next_step_;
  bool requested_ = false;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SUMMARY_HOOKS_H_
