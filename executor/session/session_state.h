// The state that a session shares with its Callables and partial runs.
#ifndef SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
#define SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "executor/device/device_set.h"
#include "executor/session/request.h"
#include "executor/session/runner.h"
#include "executor/session/session.h"
#include "executor/session/step_cache.h"
#include "executor/session/task_executor.h"
#include "executor/wait/stalls.h"
#include "graph/mutex.h"
#include "graph/shared_mutex.h"

namespace sluice {

class SessionState {
 public:
  SessionState(Graph& graph, SessionOptions options);
  ~SessionState();

  // Returns the prepared step of a request. The first call for a combination of feeds, fetches and
  // targets prepares it, and may call `shapes` for the shapes of the feeds. INVALID_ARGUMENT if a
  // handle is invalid or belongs to another graph.
  absl::StatusOr<PreparedStep*> StepFor(
      const StepRequest& request, FeedShapes shapes = [] { return std::vector<TensorShape>(); });
  absl::Status RunStep(PreparedStep& step, const StepCall& call);
  // Adds information from the graph to a step's error.
  absl::Status Explain(absl::Status error) const;
  void Close();

  absl::StatusOr<NamedRequest> FindByName(absl::Span<const std::string> feeds,
                                          absl::Span<const std::string> fetches,
                                          absl::Span<const std::string> targets) const;
  // Calls `change` to change the graph, while no step is being prepared. Returns its error.
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Calls `f` with the locks of a preparation held: meanwhile no step is prepared, and the graph
  // does not change.
  absl::Status WhilePreparing(absl::FunctionRef<absl::Status()> f);

  Runner& runner() { return *runner_; }
  Graph& graph() const { return graph_; }
  const SessionOptions& options() const { return executor_.options(); }
  DeviceSet& devices() const { return executor_.devices(); }
  Stalls& stalls() { return executor_.stalls(); }
  // The mutex that keeps the graph unchanged while it is read. Extend holds it as a writer.
  // Searches by name, preparations of steps and explanations of errors hold it as readers. Checks
  // of handles do not take it.
  SharedMutex* graph_mutex() const { return &graph_mutex_; }

 private:
  void WarnOfGrowth() ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex_);

  Graph& graph_;
  TaskExecutor executor_;
  const std::unique_ptr<Runner> runner_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> has_run_{false};

  // Lock order: prepare_mutex_, graph_mutex_, cache_mutex_.
  // Held while a step is prepared, which may wait for other tasks. Close does not take it.
  Mutex prepare_mutex_;
  // Number of node ids at the last preparation.
  int known_nodes_ ABSL_GUARDED_BY(prepare_mutex_) = 0;
  // Number of preparations for which the graph had grown.
  int growths_ ABSL_GUARDED_BY(prepare_mutex_) = 0;
  mutable SharedMutex graph_mutex_;
  Mutex cache_mutex_;  // held to change or enumerate the cache
  StepCache cache_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
