// A session for training. It initializes the model, calls hooks around each step, stops all threads
// together, and restarts from the last checkpoint after a machine is lost.
//
//   MonitoredSession session(g, std::make_shared<ChiefSessionCreator>(…), {StopAtStep(10'000)});
//   while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
//   return session.Close();
//
// Order of events: Begin of all hooks; creation of the session, which finalizes the graph; start of
// the graph's queue runners; AfterCreateSession; for each step BeforeRun, the step, AfterRun; End;
// joining of the threads; closing of the session.
//
// Errors:
// - ABORTED and UNAVAILABLE of a step or a coordinator thread mean that a machine was lost. A new
//   session is created and the step runs again. Queues that it shares with the old session stay
//   open.
// - OUT_OF_RANGE is the normal end of the input.
// - Any other error ends the loop: ShouldStop returns true from then on, End is not called, and
//   Close returns the error.
// Reference: tf.compat.v1.train.MonitoredSession.
//
// Thread safety: used by one thread; Cancel may be called from any thread. Lifetime: the graph
// outlives the session. The destructor closes an open session without calling End, as after an
// error.
#ifndef SLUICE_TRAINING_SESSION_MONITORED_SESSION_H_
#define SLUICE_TRAINING_SESSION_MONITORED_SESSION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/session/session.h"
#include "executor/wait/cancellation.h"
#include "graph/ir/graph.h"
#include "training/loop/clock.h"
#include "training/loop/coordinator.h"
#include "training/session/session_creator.h"
#include "training/session/session_run_hook.h"

namespace sluice {

struct MonitoredSessionOptions {
  // Time that threads get to end when the session is closed.
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);
  // Whether the steps train the model. A chief whose steps train checks that something starts the
  // queue runners that training needs (CheckQueueRunners in queue_runner.h).
  bool trains = true;
  // Whether the loop continues in a new session after ABORTED and UNAVAILABLE.
  bool recover = true;
  // Time limit for retries while no new session can be created. The first retry is at once, later
  // ones follow after growing pauses of up to half a minute. After that time the error ends the
  // loop.
  Clock::Duration max_recovery = std::chrono::seconds(7200);
  Clock* clock = &Clock::Real();
};

// The argument of the function that RunStep calls. The function runs its steps with it.
class HookedStep {
 public:
  using RunWithHooks = std::function<absl::StatusOr<Tensors>(const SessionRunArgs& request)>;
  HookedStep(Session& session, RunWithHooks run) : session_(session), run_(std::move(run)) {}

  // The session, for runs without hooks.
  Session& session() const { return session_; }
  // Runs one step with hooks. Returns the values of request.fetches.
  absl::StatusOr<Tensors> Run(const SessionRunArgs& request) { return run_(request); }
  // Returns an OUT_OF_RANGE status. A step function that returns it ends the loop normally.
  absl::Status RequestStop();

 private:
  Session& session_;
  RunWithHooks run_;
};

class MonitoredSession {
 public:
  // If `creator` is null, uses a ChiefSessionCreator with default options.
  MonitoredSession(Graph& graph, std::shared_ptr<SessionCreator> creator = nullptr,
                   SessionRunHooks hooks = {}, MonitoredSessionOptions options = {});
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // The first error of the session's creation, a step or a hook. Run and Close return it, too.
  const absl::Status& status() const { return status_; }
  // Whether the loop is over: a hook or thread requested it, the input ended, or there was an
  // error. If the session could not be created, returns false until Run has returned this error.
  bool ShouldStop();

  // Runs one step with hooks. Returns the values of `fetches`. OUT_OF_RANGE at the end of the
  // input, which ends the loop normally. FAILED_PRECONDITION "Run called even after should_stop
  // requested."; INVALID_ARGUMENT "Same tensor is fed by two hooks." and "Same tensor is fed by a
  // SessionRunHook and user.".
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  // Like the other Run, but without feeds and fetches, for the loop at the top of this file.
  // Returns OK at the end of the input.
  absl::Status Run(absl::Span<const Operation> targets);
  // Runs a function that may run several steps, with or without hooks. After a machine is lost, the
  // function is called again from its start. Returns OK at the end of the input.
  absl::Status RunStep(const std::function<absl::Status(HookedStep& step)>& step);

  // Ends the loop normally: calls End of all hooks (not after an error), joins the threads and
  // closes the session. Returns the first error of the loop, a hook or a thread. Called once.
  absl::Status Close();

  // Ends the current step and all waits with CANCELLED, and rejects further steps. May be called
  // from any thread.
  void Cancel() { cancellation_.StartCancel(); }

  Graph& graph() const { return graph_; }
  // The session and its coordinator, for runs without hooks and for further threads. A recovery
  // replaces both. They are null if no session could be created, and after Close.
  Session* session() const { return session_.get(); }
  Coordinator* coordinator() const { return coordinator_.get(); }

 private:
  absl::Status Begin();
  absl::Status CreateSession();
  absl::Status CreateOnce();
  absl::Status CloseSession();
  // Runs `step`. If a machine is lost, creates a new session and runs `step` again.
  absl::Status RunRecoverably(const std::function<absl::Status()>& step);
  absl::Status Ended(absl::Status status);
  absl::StatusOr<Tensors> RunHooked(const SessionRunArgs& request, RunMetadata* metadata);
  absl::Status MergeHooks(SessionRunContext& context, SessionRunArgs& merged,
                          std::vector<std::vector<size_t>>& results_of_hooks);

  Graph& graph_;
  std::shared_ptr<SessionCreator> creator_;
  SessionRunHooks hooks_;
  MonitoredSessionOptions options_;
  CancellationManager cancellation_;

  absl::Status status_;
  bool failure_told_ = false;  // whether Run or Close has returned status_
  bool stop_ = false;
  bool closed_ = false;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CancellationManager> steps_;  // cancels the steps of session_
  std::unique_ptr<Coordinator> coordinator_;  // destroyed before session_ and steps_, which it uses
};

// A MonitoredSession without recovery, always as the chief.
// Reference: tf.compat.v1.train.SingularMonitoredSession.
class SingularMonitoredSession : public MonitoredSession {
 public:
  explicit SingularMonitoredSession(Graph& graph, SessionRunHooks hooks = {},
                                    ChiefSessionCreatorOptions creator = {},
                                    MonitoredSessionOptions options = {});
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_MONITORED_SESSION_H_
