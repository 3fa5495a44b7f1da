// How a MonitoredSession gets its session, the first and after each failure.
//
// Reference behaviour: tf.compat.v1.train.ChiefSessionCreator and WorkerSessionCreator.
// Thread safety: none; the thread of the loop calls.
#ifndef SLUICE_TRAINING_SESSION_SESSION_CREATOR_H_
#define SLUICE_TRAINING_SESSION_SESSION_CREATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "training/loop/clock.h"
#include "training/session/scaffold.h"
#include "training/session/session_target.h"

namespace sluice {

class SessionCreator {
 public:
  virtual ~SessionCreator() = default;
  // A session whose model is ready. `cancellation` (may be null) ends the waiting.
  virtual absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) = 0;
  // Makes the model ready, and drives what all replicas share.
  virtual bool is_chief() const { return true; }
};

struct ChiefSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: one with defaults
  SessionTarget target;
  // Restored from, if there is a checkpoint: the latest of the folder, or the file.
  std::string checkpoint_dir;
  std::string checkpoint_filename_with_path;
};

// Initialises the model, or restores it.
class ChiefSessionCreator : public SessionCreator {
 public:
  explicit ChiefSessionCreator(ChiefSessionCreatorOptions options = {});
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) override;

 private:
  ChiefSessionCreatorOptions options_;
};

struct WorkerSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: one with defaults
  SessionTarget target;
  Clock::Duration max_wait = std::chrono::minutes(30);
  // Between looks at what another process does.
  Clock::Duration recovery_wait = std::chrono::seconds(30);
  Clock* clock = &Clock::Real();
};

// Waits for a chief that does.
class WorkerSessionCreator : public SessionCreator {
 public:
  explicit WorkerSessionCreator(WorkerSessionCreatorOptions options = {});
  bool is_chief() const override { return false; }
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) override;

 private:
  WorkerSessionCreatorOptions options_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_CREATOR_H_
