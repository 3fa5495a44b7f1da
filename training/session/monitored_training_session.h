// A MonitoredSession with the usual hooks: checkpoints, summaries, steps per second.
//
//   MonitoredTrainingSession session(g, {.checkpoint_dir = dir, .hooks = {StopAtStep(10'000)}});
//   while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
//   return session.Close();
//
// If it starts again with the same folder, training continues from the last checkpoint.
// Reference: tf.compat.v1.train.MonitoredTrainingSession.
#ifndef SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_
#define SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "training/session/monitored_session.h"
#include "training/summary/file_writer.h"

namespace sluice {

struct MonitoredTrainingSessionOptions {
  // The chief initializes and saves the model; the other replicas wait for it.
  bool is_chief = true;
  SessionTarget target;
  std::string checkpoint_dir;  // "": saves nothing
  std::string summary_dir;     // "": checkpoint_dir
  std::shared_ptr<Scaffold> scaffold;
  OpenEvents open_events = OpenEventFile;  // empty: no summaries and events
  SessionRunHooks hooks;
  SessionRunHooks chief_only_hooks;
  // At most one of each pair is set. Neither: every 600 seconds, and every 100 steps. 0: never.
  std::optional<double> save_checkpoint_secs;
  std::optional<int64_t> save_checkpoint_steps;
  std::optional<int64_t> save_summaries_steps;
  std::optional<double> save_summaries_secs;
  int64_t log_step_count_steps = 100;  // 0: never
  bool save_graph_def = true;
  // Limit of the wait for the chief, on other replicas.
  Clock::Duration max_wait = std::chrono::seconds(7200);
  MonitoredSessionOptions session;
};

// The hooks of a MonitoredTrainingSession in TensorFlow's order: chief-only hooks, step counter,
// summaries, checkpoints, hooks of all replicas.
absl::StatusOr<SessionRunHooks> TrainingHooks(const MonitoredTrainingSessionOptions& options);

class MonitoredTrainingSession : public MonitoredSession {
 public:
  explicit MonitoredTrainingSession(Graph& graph, MonitoredTrainingSessionOptions options = {});

 private:
  struct Complete {};  // all defaults are set
  MonitoredTrainingSession(Complete, Graph& graph, const MonitoredTrainingSessionOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_
