// A hook extends a training loop by calls around its steps, for example to save, log or stop.
//
//   class CountSteps : public SessionRunHook {
//     absl::Status AfterRun(SessionRunContext&, const SessionRunValues&) override { ++steps_; … }
//   };
//
// A MonitoredSession calls all hooks in the given order:
//
//   Begin               once, while the graph may still grow
//   AfterCreateSession  for each session: the first, and one per recovery
//   BeforeRun, AfterRun around each step
//   End                 once, unless an error ended the loop
//
// An error of a hook ends the loop like an error of a step. The hooks after it are not called.
//
// Reference: tf.estimator.SessionRunHook (tf.compat.v1.train.SessionRunHook).
// Thread safety: only the loop's thread calls a hook.
// Ownership: the loop shares ownership of its hooks.
// Lifetime: arguments are valid during the call. The session is valid until the loop closes it.
#ifndef SLUICE_TRAINING_SESSION_SESSION_RUN_HOOK_H_
#define SLUICE_TRAINING_SESSION_SESSION_RUN_HOOK_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "training/loop/coordinator.h"

namespace sluice {

// Fetches, targets and feeds of a step: those that the caller requests, or those that a hook adds.
struct SessionRunArgs {
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  std::vector<Feed> feeds;
  // The step uses the longest timeout that the hooks and the caller set. It traces, checks numbers
  // and reports its graphs if any of them requests it.
  RunOptions options;
};

// The results of the fetches that a hook added to a step.
struct SessionRunValues {
  const Tensors& results;       // in the order of the fetches of the hook's BeforeRun
  const RunOptions& options;    // the options with which the step ran
  const RunMetadata& metadata;  // the metadata of the whole step, with statistics if it was traced
};

// Describes the current step to BeforeRun and AfterRun of a hook.
class SessionRunContext {
 public:
  SessionRunContext(const SessionRunArgs& original_args, Session& session)
      : original_args_(original_args), session_(session) {}

  // The caller's request, without the requests of the hooks.
  const SessionRunArgs& original_args() const { return original_args_; }
  // The session of the step, for runs without hooks.
  Session& session() const { return session_; }
  // Ends the loop after this step.
  void RequestStop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }

 private:
  const SessionRunArgs& original_args_;
  Session& session_;
  bool stop_requested_ = false;
};

class SessionRunHook {
 public:
  virtual ~SessionRunHook() = default;

  // Called before the graph is finalized.
  virtual absl::Status Begin(Graph& graph) {
    (void)graph;
    return absl::OkStatus();
  }
  // Called when variables are initialized or restored and the queue runners of the graph are
  // started. Threads that the hook starts on the coordinator are joined when the session ends.
  virtual absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) {
    (void)session, (void)coordinator;
    return absl::OkStatus();
  }
  // Returns additional fetches and feeds for the step. Each tensor may be fed only once.
  virtual absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) {
    (void)context;
    return SessionRunArgs();
  }
  // Called only if the step succeeded.
  virtual absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) {
    (void)context, (void)values;
    return absl::OkStatus();
  }
  // Called after the last step, unless an error ended the loop. The session can still run steps.
  virtual absl::Status End(Session& session) {
    (void)session;
    return absl::OkStatus();
  }
};

using SessionRunHooks = std::vector<std::shared_ptr<SessionRunHook>>;

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_RUN_HOOK_H_
