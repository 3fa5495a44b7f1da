// Hooks: what a training loop does around its steps besides stepping (saving, logging, stopping).
//
//   class CountSteps : public SessionRunHook {
//     absl::Status AfterRun(SessionRunContext&, const SessionRunValues&) override { ++steps_; … }
//   };
//
// A MonitoredSession calls, for all hooks in the order given:
//   Begin               once, while the graph may still grow
//   AfterCreateSession  for each session: the first, and one for each recovery
//   BeforeRun, AfterRun around each step
//   End                 once, unless the loop ended by an error
// An error of a hook ends the loop as an error of the step would; the hooks after it are not
// called.
//
// Reference behaviour: tf.estimator.SessionRunHook (tf.compat.v1.train.SessionRunHook).
// Thread safety: the calls come from the thread that runs the loop. Ownership: a hook is shared
// with the loop; the arguments live as long as the call, the session until the loop closes it.
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

// What to run: a caller's request, or what a hook adds to it.
struct SessionRunArgs {
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  std::vector<Feed> feeds;
  // Merged over all hooks and the caller: the longest timeout, traced if any asks for it.
  RunOptions options;
};

// What a hook's own request gave.
struct SessionRunValues {
  const Tensors& results;       // as SessionRunArgs::fetches of the hook's BeforeRun
  const RunOptions& options;    // that the step ran with
  const RunMetadata& metadata;  // of the whole step
};

// The step that is about to be run, or was.
class SessionRunContext {
 public:
  SessionRunContext(const SessionRunArgs& original_args, Session& session)
      : original_args_(original_args), session_(session) {}

  // What the caller asked for, without the hooks' requests.
  const SessionRunArgs& original_args() const { return original_args_; }
  // Runs without hooks.
  Session& session() const { return session_; }
  // The loop ends after this step.
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

  // The graph is finalised when all hooks have begun.
  virtual absl::Status Begin(Graph& graph) {
    (void)graph;
    return absl::OkStatus();
  }
  // Variables are initialised or restored, and the queue runners of the graph are started. Threads
  // that the hook starts on the coordinator are joined when the session ends.
  virtual absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) {
    (void)session, (void)coordinator;
    return absl::OkStatus();
  }
  // What to run besides the caller's request. A tensor may be fed once only.
  virtual absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) {
    (void)context;
    return SessionRunArgs();
  }
  // Called only after a step without an error.
  virtual absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) {
    (void)context, (void)values;
    return absl::OkStatus();
  }
  // The session still runs steps.
  virtual absl::Status End(Session& session) {
    (void)session;
    return absl::OkStatus();
  }
};

using SessionRunHooks = std::vector<std::shared_ptr<SessionRunHook>>;

}  // namespace sluice

#endif  // SLUICE_TRAINING_SESSION_SESSION_RUN_HOOK_H_
