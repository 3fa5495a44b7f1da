// A hook that saves checkpoints at intervals of steps or seconds, and notifies listeners.
//
// It writes `graph.pbtxt`, checkpoints with their meta graphs, and an event file with the graph and
// an entry per checkpoint to the folder checkpoint_dir. The hook saves before the first step, then
// at each interval, and after the last step.
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

// The base class of objects that a CheckpointSaverHook calls around each save. An error of a method
// ends the loop.
class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // Called once, before the graph is finalized. May add ops to it.
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
  // Called once, after the last checkpoint is saved.
  virtual absl::Status End(Session& session, int64_t global_step) {
    (void)session, (void)global_step;
    return absl::OkStatus();
  }
};

struct CheckpointSaverOptions {
  std::string checkpoint_dir;
  // The interval between two saves.
  Every every;
  // The saver, or a scaffold that has a saver. Exactly one of the two is set.
  std::shared_ptr<ModelSaver> saver;
  std::shared_ptr<Scaffold> scaffold;
  std::string checkpoint_basename = "model.ckpt";
  std::vector<std::shared_ptr<CheckpointSaverListener>> listeners;
  // Whether to write `graph.pbtxt`, and `<checkpoint>.meta` next to each checkpoint.
  bool save_graph_def = true;
  // Opens the event file in checkpoint_dir. Empty: no events are written.
  OpenEvents open_events = OpenEventFile;
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
  // Saves a checkpoint and calls the listeners. Returns whether one of them requests the end of the
  // loop.
  absl::StatusOr<bool> Save(Session& session, int64_t step);
  absl::StatusOr<ModelSaver*> TheSaver() const;

  CheckpointSaverOptions options_;
  const std::string save_path_;
  StepTimer timer_;
  Output global_step_;
  std::shared_ptr<TrainingEvents> events_;  // null: no events are written
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_CHECKPOINT_SAVER_HOOK_H_
