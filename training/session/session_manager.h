// Creates sessions whose model is ready: initialized or restored here, or initialized by another
// thread or process.
//
//   SessionManager manager({.local_init_op = local_init, .ready_op = report});
//   auto session = chief ? manager.PrepareSession(graph, target, {.init_op = init, .restore = …})
//                        : manager.WaitForSession(graph, target);
//
// A MonitoredSession uses a SessionManager through its SessionCreator.
//
// Reference: tf.train.SessionManager. Errors have the same texts.
// Waiting: PrepareSession and RecoverSession announce to the process when the model is ready, which
// ends the waits of other threads for it. The target may also report announcements of other
// processes (SessionTarget::watch_ready). Otherwise the model is checked after 50 ms, then at
// growing intervals of up to `recovery_wait`. (TensorFlow always waits for this interval.)
// Cancellation ends every wait.
// Thread safety: a manager is immutable, and its methods may be called from any thread.
// Lifetime: the graph outlives the sessions.
#ifndef SLUICE_TRAINING_SESSION_SESSION_MANAGER_H_
#define SLUICE_TRAINING_SESSION_SESSION_MANAGER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "training/checkpoint/model_saver.h"
#include "training/loop/clock.h"
#include "training/session/session_target.h"

namespace sluice {

struct SessionManagerOptions {
  // Runs in each new session, once ready_for_local_init_op reports that the model is ready for it.
  Operation local_init_op;
  std::vector<Feed> local_init_feeds;
  RunOptions local_init_run_options;
  // These ops check whether the model is ready. Each returns the names of the variables that are
  // not initialized, as a string vector. The model is ready if the vector is empty, if the op
  // returns a tensor of another type, or if it has no outputs and runs without an error. A
  // default-constructed Operation means that nothing is checked.
  Operation ready_op;
  Operation ready_for_local_init_op;
  // The longest interval between two checks during a wait for the model or a checkpoint.
  Clock::Duration recovery_wait = std::chrono::seconds(30);
  Clock* clock = &Clock::Real();
};

// The checkpoint to restore: the latest of a folder, or a file. At most one of the two paths is
// set.
struct RestoreFrom {
  ModelSaver* saver = nullptr;  // null: restores nothing
  std::string checkpoint_dir;
  std::string checkpoint_filename_with_path;
  // Whether to wait up to `max_wait` for a first checkpoint if checkpoint_dir has none. Without a
  // checkpoint, nothing is restored.
  bool wait_for_checkpoint = false;
  Clock::Duration max_wait = std::chrono::seconds(7200);
};

struct PrepareSessionOptions {
  Operation init_op;
  std::vector<Feed> init_feeds;
  // Called after init_op, unless the model was restored.
  std::function<absl::Status(Session& session)> init_fn;
  RestoreFrom restore;
  // Cancels waits and steps with CANCELLED. Outlives the call.
  CancellationManager* cancellation = nullptr;
};

// Runs `op` (see SessionManagerOptions::ready_op). Returns why the model is not ready, or "" if it
// is ready. If `op` fails with FAILED_PRECONDITION and the message does not contain
// "uninitialized", logs a warning that begins with `what` and returns the error. Reference:
// session_manager._ready.
absl::StatusOr<std::string> WhyNotReady(Session& session, Operation op, const char* what,
                                        CancellationManager* cancellation = nullptr);

class SessionManager {
 public:
  explicit SessionManager(SessionManagerOptions options = {});

  // Restores the model, or initializes it if there is no checkpoint. FAILED_PRECONDITION "Model is
  // not initialized and no init_op or init_fn or local_init_op was given", "Init operations did not
  // make model ready…"; INVALID_ARGUMENT for options that exclude each other; errors of the steps.
  absl::StatusOr<std::unique_ptr<Session>> PrepareSession(
      Graph& graph, const SessionTarget& target, const PrepareSessionOptions& options) const;

  struct Recovered {
    std::unique_ptr<Session> session;
    bool initialized = false;  // whether the model was restored and is ready
  };
  // Restores the model if there is a checkpoint. Never initializes it.
  absl::StatusOr<Recovered> RecoverSession(Graph& graph, const SessionTarget& target,
                                           const RestoreFrom& restore,
                                           CancellationManager* cancellation = nullptr) const;

  // Waits until another thread or process has initialized the model. Nullopt: without a limit.
  // DEADLINE_EXCEEDED "Session was not ready after waiting <n> secs." CANCELLED if `cancellation`
  // fires.
  absl::StatusOr<std::unique_ptr<Session>> WaitForSession(
      Graph& graph, const SessionTarget& target,
      std::optional<Clock::Duration> max_wait = std::nullopt,
      CancellationManager* cancellation = nullptr) const;

 private:
  // Runs local_init_op and returns "", or returns why the model is not ready for it.
  absl::StatusOr<std::string> TryLocalInit(Session& session,
                                           CancellationManager* cancellation) const;
  // Returns whether a checkpoint was restored.
  absl::StatusOr<bool> Restore(Session& session, const RestoreFrom& from,
                               CancellationManager* cancellation) const;
  absl::Status CheckOptions() const;

  SessionManagerOptions options_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_MANAGER_H_
