// A MonitoredSession with the usual hooks, which save checkpoints and summaries and log the steps
// per second.
//
//   MonitoredTrainingSession session(g, {.checkpoint_dir = dir, .hooks = {StopAtStep(10'000)}});
//   while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
//   return session.Close();
//
// If the program is started again with the same folder, training continues from the last
// checkpoint.
//
// Thread safety: used by one thread; Cancel may be called from any thread.
// Lifetime: the graph outlives it. It shares ownership of hooks, scaffold and events.
// Errors: those of MonitoredSession. INVALID_ARGUMENT if the interval of checkpoints or of
// summaries is given both in steps and in seconds. Errors of the constructor are returned by the
// first Run and by Close.
// Reference: tf.compat.v1.train.MonitoredTrainingSession.
#ifndef SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_
#define SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_

#include <memory>
#include <optional>
#include <string>

#include "training/session/monitored_session.h"
#include "training/summary/file_writer.h"

namespace sluice {

// Options of MonitoredTrainingSession. The defaults train in this process and save nothing.
struct MonitoredTrainingSessionOptions {
  // The chief initializes and saves the model; the other replicas wait for it.
  bool is_chief = true;
  // The process that runs the steps: this one, or a server at "grpc://host:port".
  SessionTarget target;
  // Folder of the checkpoints. "": saves nothing, and restores nothing.
  std::string checkpoint_dir;
  // Folder of the event files. "": checkpoint_dir.
  std::string summary_dir;

  // Init ops, saver and summaries. Null: the defaults, which initialize all variables and save
  // them.
  std::shared_ptr<Scaffold> scaffold;
  // Opens the event files. Empty: no event files are written.
  OpenEvents open_events = OpenEventFile;
  // Hooks of every replica, and hooks that only the chief adds.
  SessionRunHooks hooks;
  SessionRunHooks chief_only_hooks;
  // Intervals of saved checkpoints and summaries. At most one of the two intervals of checkpoints
  // is set, and at most one of summaries. By default, checkpoints are saved every 600 seconds, and
  // summaries every 100 steps. 0: never.
  std::optional<double> save_checkpoint_secs;
  std::optional<int64_t> save_checkpoint_steps;
  std::optional<int64_t> save_summaries_steps;
  std::optional<double> save_summaries_secs;
  // The number of steps after which "global_step/sec" is logged and added to the summaries. If it
  // is 0, or if both folders above are "", this never happens.
  int64_t log_step_count_steps = 100;
  // Whether checkpoints have a ".meta" file with the graph.
  bool save_graph_def = true;
  // Time that replicas other than the chief wait until the chief has initialized the model.
  Clock::Duration max_wait = std::chrono::seconds(7200);
  // Options of the recovery after a lost machine, and of the wait for threads at the end.
  MonitoredSessionOptions session;
};

// The hooks of a MonitoredTrainingSession in TensorFlow's order: chief-only hooks, step counter,
// summaries, checkpoints, hooks of all replicas.
absl::StatusOr<SessionRunHooks> TrainingHooks(const MonitoredTrainingSessionOptions& options);

// The constructor calls Begin of the hooks and creates the session, which initializes or restores
// the variables. The graph is finalized then.
class MonitoredTrainingSession : public MonitoredSession {
 public:
  explicit MonitoredTrainingSession(Graph& graph, MonitoredTrainingSessionOptions options = {});

 private:
  struct Complete {};  // marks the constructor whose `options` have all defaults filled in
  MonitoredTrainingSession(Complete, Graph& graph, const MonitoredTrainingSessionOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_MONITORED_TRAINING_SESSION_H_
