#include "training/session/monitored_training_session.h"

#include <utility>

#include "graph/status.h"
#include "training/session/checkpoint_saver_hook.h"
#include "training/session/summary_hooks.h"

namespace sluice {
namespace {

constexpr double kCheckpointSecs = 600;
constexpr int64_t kSummarySteps = 100;

// Returns the interval that two options set, or `otherwise` if both are absent. An option of 0 is
// ignored, so if no option is positive, neither field of the result is set: never.
Every Setting(std::optional<int64_t> steps, std::optional<double> secs, Every otherwise) {
  if (!steps && !secs) return otherwise;
  Every every;
  if (steps && *steps > 0) every.steps = steps;
  if (secs && *secs > 0) every.secs = secs;
  return every;
}

// When the loop begins, returns the error that occurred when the hooks were created.
class Failure : public SessionRunHook {
 public:
  explicit Failure(absl::Status why) : why_(std::move(why)) {}
  absl::Status Begin(Graph&) override { return why_; }

 private:
  absl::Status why_;
};

SessionRunHooks HooksOrFailure(absl::StatusOr<SessionRunHooks> hooks) {
  if (hooks.ok()) return *std::move(hooks);
  return {std::make_shared<Failure>(hooks.status())};
}

bool Ever(const Every& every) { return every.steps || every.secs; }

MonitoredTrainingSessionOptions WithDefaults(MonitoredTrainingSessionOptions options) {
  if (!options.scaffold) options.scaffold = std::make_shared<Scaffold>();
  return options;
}

std::shared_ptr<SessionCreator> Creator(const MonitoredTrainingSessionOptions& options) {
  if (!options.is_chief) {
    return std::make_shared<WorkerSessionCreator>(
        WorkerSessionCreatorOptions{.scaffold = options.scaffold,
                                    .target = options.target,
                                    .max_wait = options.max_wait,
                                    .clock = options.session.clock});
  }
  return std::make_shared<ChiefSessionCreator>(
      ChiefSessionCreatorOptions{.scaffold = options.scaffold,
                                 .target = options.target,
                                 .checkpoint_dir = options.checkpoint_dir});
}

}  // namespace

absl::StatusOr<SessionRunHooks> TrainingHooks(const MonitoredTrainingSessionOptions& options) {
  if (!options.is_chief) return options.hooks;
  SessionRunHooks hooks = options.chief_only_hooks;
  Clock* const clock = options.session.clock;
  const std::string& folder =
      options.summary_dir.empty() ? options.checkpoint_dir : options.summary_dir;
  if (!folder.empty()) {
    std::shared_ptr<TrainingEvents> events;
    if (options.open_events) {
      SLUICE_ASSIGN_OR_RETURN(events, options.open_events(folder));
    }
    if (options.log_step_count_steps > 0) {
      hooks.push_back(std::make_shared<StepCounterHook>(StepCounterOptions{
          .every = {.steps = options.log_step_count_steps}, .events = events, .clock = clock}));
    }
    const Every summaries = Setting(options.save_summaries_steps, options.save_summaries_secs,
                                    {.steps = kSummarySteps});
    if (Ever(summaries)) {
      hooks.push_back(std::make_shared<SummarySaverHook>(SummarySaverOptions{
          .every = summaries, .events = events, .scaffold = options.scaffold, .clock = clock}));
    }
  }
  const Every checkpoints = Setting(options.save_checkpoint_steps, options.save_checkpoint_secs,
                                    {.secs = kCheckpointSecs});
  if (!options.checkpoint_dir.empty() && Ever(checkpoints)) {
    hooks.push_back(std::make_shared<CheckpointSaverHook>(
        CheckpointSaverOptions{.checkpoint_dir = options.checkpoint_dir,
                               .every = checkpoints,
                               .scaffold = options.scaffold,
                               .save_graph_def = options.save_graph_def,
                               .open_events = options.open_events,
                               .clock = clock}));
  }
  hooks.insert(hooks.end(), options.hooks.begin(), options.hooks.end());
  return hooks;
}

MonitoredTrainingSession::MonitoredTrainingSession(Graph& graph,
                                                   MonitoredTrainingSessionOptions options)
    : MonitoredTrainingSession(Complete(), graph, WithDefaults(std::move(options))) {}

MonitoredTrainingSession::MonitoredTrainingSession(Complete, Graph& graph,
                                                   const MonitoredTrainingSessionOptions& options)
    : MonitoredSession(graph, Creator(options), HooksOrFailure(TrainingHooks(options)),
                       options.session) {}

}  // namespace sluice
