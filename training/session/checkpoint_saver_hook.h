// Saves checkpoints at intervals of steps or seconds, and notifies listeners.
//
// The folder contains `graph.pbtxt`, checkpoints with their meta graphs, and an event file with the
// graph and an entry per checkpoint. The hook saves before the first step, then at each interval,
// and after the last step.
// Reference: tf.estimator.CheckpointSaverHook. Thread safety: as SessionRunHook.
#ifndef SLUICE_TRAINING_SESSION_CHECKPOINT_SAVER_HOOK_H_
#define SLUICE_TRAINING_SESSION_CHECKPOINT_SAVER_HOOK_H_

#include <memory>
#include <string>
#include <vector>

#include "training/checkpoint/model_saver.h"
#include "training/loop/clock.h"
#include "training/session/scaffold.h"
#include "training/session/session_run_hook.h"
#include "training/session/step_timer.h"
#include "training/summary/file_writer.h"
#include "training/summary/training_events.h"

namespace sluice {

class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // May add ops to the graph.
  virtual absl::Status Begin(Graph& graph) {
    (void)graph;
    return absl::OkStatus();
  }
  virtual absl::Status BeforeSave(Session& session, int64_t global_step) {
    (void)session, (void)global_step;
    return absl::OkStatus();
  }
  // Returns true to end the loop after this step.
  virtual absl::StatusOr<bool> AfterSave(Session& session, int64_t global_step) {
    (void)session, (void)global_step;
    return false;
  }
  virtual absl::Status End(Session& session, int64_t global_step) {
    (void)session, (void)global_step;
    return absl::OkStatus();
  }
};

struct CheckpointSaverOptions {
  std::string checkpoint_dir;
  Every every;
  // The saver, or a scaffold that has a saver. Exactly one of the two is set.
  std::shared_ptr<ModelSaver> saver;
  std::shared_ptr<Scaffold> scaffold;
  std::string checkpoint_basename = "model.ckpt";
  std::vector<std::shared_ptr<CheckpointSaverListener>> listeners;
  // Writes `graph.pbtxt`, and `<checkpoint>.meta` next to each checkpoint.
  bool save_graph_def = true;
  OpenEvents open_events = OpenEventFile;  // empty: no events
  Clock* clock = &Clock::Real();
};

// Errors of Begin: FAILED_PRECONDITION if the graph has no global step; INVALID_ARGUMENT "You
// cannot provide both saver and scaffold."; the errors of StepTimer::Check.
class CheckpointSaverHook : public SessionRunHook {
 public:
  explicit CheckpointSaverHook(CheckpointSaverOptions options);
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  absl::Status WriteGraph(const Graph& graph);
  // Returns true if a listener requests the end of the loop.
  absl::StatusOr<bool> Save(Session& session, int64_t step);
  absl::StatusOr<ModelSaver*> TheSaver() const;

  CheckpointSaverOptions options_;
  const std::string save_path_;
  StepTimer timer_;
  Output global_step_;
  std::shared_ptr<TrainingEvents> events_;  // null: none
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHECKPOINT_SAVER_HOOK_H_
