// Creates the sessions of a MonitoredSession: the first one, and one after each failure.
//
// Reference: tf.compat.v1.train.ChiefSessionCreator and WorkerSessionCreator.
// Thread safety: none; only the loop's thread calls it.
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
  // Creates a session whose model is ready. `cancellation` (may be null) cancels waits.
  virtual absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) = 0;
  // Whether the sessions are those of the chief: the replica that initializes the model, and runs
  // the threads that all replicas need.
  virtual bool is_chief() const { return true; }
};

struct ChiefSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: a default Scaffold
  SessionTarget target;
  // The checkpoint to restore: the latest of a folder, if it has one, or a file, which must exist.
  // At most one of the two paths is set. With neither, the model is initialized.
  std::string checkpoint_dir;
  std::string checkpoint_filename_with_path;
};

// Restores the model from a checkpoint, or initializes it if there is none. The chief uses it.
class ChiefSessionCreator : public SessionCreator {
 public:
  explicit ChiefSessionCreator(ChiefSessionCreatorOptions options = {});
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(
      Graph& graph, CancellationManager* cancellation) override;

 private:
  ChiefSessionCreatorOptions options_;
};

struct WorkerSessionCreatorOptions {
  std::shared_ptr<Scaffold> scaffold;  // null: a default Scaffold
  SessionTarget target;
  // Time to wait for the chief. After that time, CreateSession returns DEADLINE_EXCEEDED.
  Clock::Duration max_wait = std::chrono::minutes(30);
  // The longest pause between two checks whether another process has initialized the model.
  Clock::Duration recovery_wait = std::chrono::seconds(30);
  Clock* clock = &Clock::Real();
};

// Waits until the chief has initialized or restored the model. The other replicas use it.
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
