// Hooks that write to event files: summaries, steps per second, traces.
//
//   SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<TrainingEvents> events, OpenEventFile("/tmp/run1"));
//   hooks.push_back(std::make_shared<SummarySaverHook>(SummarySaverOptions{
//       .every = {.steps = 100}, .events = events, .summary_ops = {summary::MergeAll(g)}}));
//
// A MonitoredTrainingSession adds a SummarySaverHook and a StepCounterHook by itself.
//
// Thread safety: as SessionRunHook: only the loop's thread calls them.
// Ownership: the loop shares ownership of its hooks, and hooks share ownership of the events.
// Errors of Begin: FAILED_PRECONDITION if the graph has no global step; INVALID_ARGUMENT for
// options that exclude each other. Errors of the event file end the loop.
// Reference: the classes with the same names in tf.estimator.
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

// Options of SummarySaverHook.
struct SummarySaverOptions {
  // Interval in steps or seconds: exactly one is set. Steps are those of the global step.
  Every every;
  // The event file. Null: writes nothing.
  std::shared_ptr<TrainingEvents> events;
  // The summaries to write: string tensors with serialized Summary messages, or a scaffold, whose
  // summary_op is used. Exactly one of the two is set.
  std::vector<Output> summary_ops;
  std::shared_ptr<Scaffold> scaffold;
  Clock* clock = &Clock::Real();
};

// Fetches the summaries with the first step and then at intervals, and writes them with the global
// step.
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
  std::optional<int64_t> next_step_;  // nullopt before the first step
  bool requested_ = false;
};

// Options of StepCounterHook.
struct StepCounterOptions {
  Every every = {.steps = 100};
  // The event file. Null: only logs.
  std::shared_ptr<TrainingEvents> events;
  Clock* clock = &Clock::Real();
};

// Reports the growth of the global step per second, as a summary "global_step/sec" and in the log.
// The steps of all replicas are included. The hook warns, at most five times, if the global step
// does not grow. The train op then does not increment it.
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

// Options of ProfilerHook.
struct ProfilerOptions {
  // Interval between two traces.
  Every every;
  // Folder of the timelines. "": the current folder.
  std::string output_dir;
  // The event file for the statistics of traced steps. Null: the hook writes only the timeline.
  std::shared_ptr<TrainingEvents> events;
  Clock* clock = &Clock::Real();
};

// Traces a step at intervals, the first after one interval. Writes
// `<output_dir>/timeline-<step>.json` for chrome://tracing or Perfetto, and the step's statistics
// to the event file. The folder must exist (UNAVAILABLE otherwise). A traced step is slower.
//
//   hooks.push_back(std::make_shared<ProfilerHook>(
//       ProfilerOptions{.every = {.steps = 1000}, .output_dir = "/tmp/run1"}));
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
