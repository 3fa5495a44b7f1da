// Makes sessions of a model that is ready: initialised, restored from a checkpoint, or made ready
// by somebody else.
//
//   SessionManager manager({.local_init_op = local_init, .ready_op = report});
//   auto session = chief ? manager.PrepareSession(graph, target, {.init_op = init, .restore = …})
//                        : manager.WaitForSession(graph, target);
//
// Reference behaviour: tf.train.SessionManager, its texts included.
// Waiting: what a manager of this process does ends the wait at once, and what another process does
// where the target hears of it (SessionTarget::watch_ready). Else that is looked at after 50 ms,
// then more and more rarely, in the end every `recovery_wait` (TensorFlow: from the start). Every
// wait ends when it is cancelled. Thread safety: a manager is immutable; its methods may run in
// several threads. Lifetime: the graph outlives the sessions.
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
#include "training/loop/clock.h"
#include "training/checkpoint/model_saver.h"
#include "training/session/session_target.h"

namespace sluice {

struct SessionManagerOptions {
  // Run in each new session, once the model is ready for it.
  Operation local_init_op;
  std::vector<Feed> local_init_feeds;
  RunOptions local_init_run_options;
  // Tensors that list what is not ready yet (names of variables); an empty list, an int32 tensor or
  // an op without outputs that runs: ready. Invalid: nothing is checked.
  Operation ready_op;
  Operation ready_for_local_init_op;
  Clock::Duration recovery_wait = std::chrono::seconds(30);
  Clock* clock = &Clock::Real();
};

// Where to restore from: the latest checkpoint of a folder, or a given one.
struct RestoreFrom {
  ModelSaver* saver = nullptr;  // null: nothing is restored
  std::string checkpoint_dir;
  std::string checkpoint_filename_with_path;
  // No checkpoint yet: wait for one, instead of going on without.
  bool wait_for_checkpoint = false;
  Clock::Duration max_wait = std::chrono::seconds(7200);
};

struct PrepareSessionOptions {
  Operation init_op;
  std::vector<Feed> init_feeds;
  // Called after init_op; not where the model was restored.
  std::function<absl::Status(Session& session)> init_fn;
  RestoreFrom restore;
  // Ends waits and steps with CANCELLED. Outlives the call.
  CancellationManager* cancellation = nullptr;
};

// Runs `op` (as SessionManagerOptions::ready_op): why the model is not ready, "" if it is. `what`
// is the sentence of the warning where the check itself fails. Reference: session_manager._ready.
absl::StatusOr<std::string> WhyNotReady(Session& session, Operation op, const char* what,
                                        CancellationManager* cancellation = nullptr);

class SessionManager {
 public:
  explicit SessionManager(SessionManagerOptions options = {});

  // Restores the model, or else initialises it. FAILED_PRECONDITION "Model is not initialized and
  // no init_op or init_fn or local_init_op was given", "Init operations did not make model ready…";
  // INVALID_ARGUMENT for options that exclude each other; errors of the steps as they come.
  absl::StatusOr<std::unique_ptr<Session>> PrepareSession(
      Graph& graph, const SessionTarget& target, const PrepareSessionOptions& options) const;

  struct Recovered {
    std::unique_ptr<Session> session;
    bool initialized = false;  // restored, and ready
  };
  // Restores the model if there is a checkpoint; never initialises it.
  absl::StatusOr<Recovered> RecoverSession(Graph& graph, const SessionTarget& target,
                                           const RestoreFrom& restore,
                                           CancellationManager* cancellation = nullptr) const;

  // Waits until somebody else made the model ready. DEADLINE_EXCEEDED "Session was not ready after
  // waiting <n> secs."; CANCELLED.
  absl::StatusOr<std::unique_ptr<Session>> WaitForSession(
      Graph& graph, const SessionTarget& target,
      std::optional<Clock::Duration> max_wait = std::nullopt,
      CancellationManager* cancellation = nullptr) const;

 private:
  // Why the model is not ready for it, "" if local_init_op was run.
  absl::StatusOr<std::string> TryLocalInit(Session& session,
                                           CancellationManager* cancellation) const;
  absl::StatusOr<bool> Restore(Session& session, const RestoreFrom& from,
                               CancellationManager* cancellation) const;
  absl::Status CheckOptions() const;

  SessionManagerOptions options_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_MANAGER_H_
