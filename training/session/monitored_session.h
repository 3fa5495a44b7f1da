// A session that trains: it makes the model ready, calls hooks around each step, stops all threads
// together, and starts again from the last checkpoint when a machine was lost.
//
//   MonitoredSession session(g, std::make_shared<ChiefSessionCreator>(…), {StopAtStep(10'000)});
//   while (!session.ShouldStop()) SLUICE_RETURN_IF_ERROR(session.Run({train}));
//   return session.Close();
//
// In this order: Begin of all hooks; the session is created (which finalises the graph); the
// graph's queue runners are started; AfterCreateSession; for each step BeforeRun, the step,
// AfterRun; End; the threads are joined; the session is closed.
//
// Errors: ABORTED and UNAVAILABLE, of a step or of a thread of the coordinator, mean that a machine
// was lost: the session is closed and a new one is created, and the step is run again. Queues that
// are shared with other programs stay open. OUT_OF_RANGE is the end of the input. Every other error
// ends the loop: ShouldStop is true from then on, End is not called, and Close returns the error.
// Reference behaviour: tf.compat.v1.train.MonitoredSession.
//
// Thread safety: one thread uses it; Cancel from any. Lifetime: the graph outlives it. The
// destructor of a session that was not closed closes it without calling End, as after an error.
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
  // For the threads that are left when the session is closed.
  std::chrono::milliseconds stop_grace_period = std::chrono::seconds(120);
  // False where the steps of a graph that could train do something else: then a chief need not
  // start the queue runners that training needs (CheckQueueRunners).
  bool trains = true;
  // Start again after ABORTED and UNAVAILABLE.
  bool recover = true;
  // While no new session can be created: at first at once, then with growing pauses of up to half
  // a minute, until this time is over. Then the error is the loop's.
  Clock::Duration max_recovery = std::chrono::seconds(7200);
  Clock* clock = &Clock::Real();
};

// What a step function of RunStep works with.
class HookedStep {
 public:
  using RunWithHooks = std::function<absl::StatusOr<Tensors>(const SessionRunArgs& request)>;
  HookedStep(Session& session, RunWithHooks run) : session_(session), run_(std::move(run)) {}

  // Runs without hooks.
  Session& session() const { return session_; }
  // One step, with hooks.
  absl::StatusOr<Tensors> Run(const SessionRunArgs& request) { return run_(request); }
  // What the step function returns so that the loop ends normally.
  absl::Status RequestStop();

 private:
  Session& session_;
  RunWithHooks run_;
};

class MonitoredSession {
 public:
  // `creator` null: a ChiefSessionCreator with defaults.
  MonitoredSession(Graph& graph, std::shared_ptr<SessionCreator> creator = nullptr,
                   SessionRunHooks hooks = {}, MonitoredSessionOptions options = {});
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  // The first error: of the creation, of a step, of a hook; what Run and Close return.
  const absl::Status& status() const { return status_; }
  // The loop is over: a hook or a thread asked for it, the input ended, or an error. False where
  // the creation failed, until a Run told so.
  bool ShouldStop();

  // The caller's fetches. OUT_OF_RANGE at the end of the input, which ends the loop normally.
  // FAILED_PRECONDITION "Run called even after should_stop requested."; INVALID_ARGUMENT "Same
  // tensor is fed by two hooks." and "Same tensor is fed by a SessionRunHook and user.".
  absl::StatusOr<Tensors> Run(absl::Span<const Feed> feeds, absl::Span<const Output> fetches,
                              absl::Span<const Operation> targets = {},
                              const RunOptions& options = {}, RunMetadata* metadata = nullptr);
  // The same without a result, for the loop above: OK at the end of the input.
  absl::Status Run(absl::Span<const Operation> targets);
  // Runs a function that may do several steps, some of them without hooks. After a lost machine it
  // is called again from its start.
  absl::Status RunStep(const std::function<absl::Status(HookedStep& step)>& step);

  // The normal end: calls End of all hooks (not after an error), joins the threads, closes the
  // session. The first error of the loop, of a hook, or of a thread. Once.
  absl::Status Close();

  // Ends the step under way, waits and pauses with CANCELLED, and refuses more. From any thread.
  void Cancel() { cancellation_.StartCancel(); }

  Graph& graph() const { return graph_; }
  // Without hooks; null before the creation and after Close.
  Session* session() const { return session_.get(); }
  Coordinator* coordinator() const { return coordinator_.get(); }

 private:
  absl::Status Begin();
  absl::Status CreateSession();
  absl::Status CreateOnce();
  absl::Status CloseSession();
  // Runs `step` until it ends with something else than a lost machine.
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
  bool failure_told_ = false;  // a Run or Close returned status_
  bool stop_ = false;
  bool closed_ = false;
  std::unique_ptr<Session> session_;
  std::unique_ptr<CancellationManager> steps_;  // of session_
  std::unique_ptr<Coordinator> coordinator_;    // dies before session_ and steps_, which it uses
};

// Without recovery, and always as the chief.
// Reference behaviour: tf.compat.v1.train.SingularMonitoredSession.
class SingularMonitoredSession : public MonitoredSession {
 public:
  explicit SingularMonitoredSession(Graph& graph, SessionRunHooks hooks = {},
                                    ChiefSessionCreatorOptions creator = {},
                                    MonitoredSessionOptions options = {});
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_MONITORED_SESSION_H_
