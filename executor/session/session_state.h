// What a session and its Callables share.
#ifndef SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
#define SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "executor/device/device_set.h"
#include "executor/passes/passes.h"
#include "executor/session/plan_cache.h"
#include "executor/session/remote_master.h"
#include "executor/session/session.h"
#include "executor/session/session_plan.h"
#include "executor/session/task_executor.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/stalls.h"

namespace sluice {

// Names, looked up in the graph.
struct NamedRequest {
  OutputList feeds, fetches;
  std::vector<Operation> targets;
};

// The shapes of a request's feeds; empty: those of the tensors that they are for.
using ShapesOfFeeds = absl::FunctionRef<std::vector<TensorShape>()>;

class SessionState {
 public:
  SessionState(Graph& graph, SessionOptions options);
  ~SessionState();

  // The plan of the request, compiled if it is new. INVALID_ARGUMENT for handles of other graphs.
  // `shapes` is asked only then.
  absl::StatusOr<SessionPlan*> PlanFor(
      const PlanRequest& request, ShapesOfFeeds shapes = [] { return std::vector<TensorShape>(); });
  // `feeds[i]` is the value of feed i; fetches are moved into `fetches`. `rendezvous` is for a
  // partial run, and null otherwise.
  absl::Status RunPlan(SessionPlan& plan, absl::Span<const Tensor* const> feeds, Tensor* fetches,
                       const RunOptions& options, RunMetadata* metadata,
                       Rendezvous* rendezvous = nullptr);
  void Close();

  Graph& graph() const { return graph_; }
  // Runs `call` with a cancellation that fires with `cancellation` and with Close. The text of its
  // error names the lines of nodes.
  absl::Status OnMaster(CancellationManager* cancellation,
                        absl::FunctionRef<absl::Status(RemoteMaster&, CancellationManager&)> call);
  absl::StatusOr<std::string> SetUpPartialRun(const RemoteMaster::Names& names);
  // Changes the graph while no plan is made of it.
  absl::Status Extend(absl::FunctionRef<absl::Status(Graph&)> change);
  // Gives every node of the graph its place; under Extend.
  absl::Status PlaceAll();
  // By name. NOT_FOUND as TensorFlow says it.
  absl::StatusOr<NamedRequest> Resolve(absl::Span<const std::string> feeds,
                                       absl::Span<const std::string> fetches,
                                       absl::Span<const std::string> targets) const;
  const SessionOptions& options() const { return executor_.options(); }
  DeviceSet& devices() const { return executor_.devices(); }
  Stalls& stalls() { return executor_.stalls(); }
  // For who reads the graph: Extend waits until it is released.
  std::shared_lock<std::shared_mutex> LockGraph() const {
    return std::shared_lock<std::shared_mutex>(graph_mutex_);
  }

 private:
  absl::Status CheckRequest(const PlanRequest& request) const;
  absl::StatusOr<std::unique_ptr<SessionPlan>> Compile(const PlanRequest& request,
                                                       ShapesOfFeeds shapes);
  absl::StatusOr<std::unique_ptr<Graph>> Rewrite(const PlanRequest& request);
  PassOptions PassesFor(const PlanRequest& request) const;
  absl::Status PlaceGraph(Graph& graph);
  // Rewrites the graph so that its steps need no more than SessionOptions::memory_limit_bytes; the
  // plan of what came of it.
  absl::StatusOr<std::shared_ptr<const Plan>> FitIntoMemory(const std::shared_ptr<Graph>& graph,
                                                            const PassOptions& passes,
                                                            const std::vector<TensorShape>& feeds);
  absl::StatusOr<std::unique_ptr<SessionPlan>> CompileParts(const Graph& graph,
                                                            std::vector<Output> feeds);
  absl::StatusOr<std::unique_ptr<SessionPlan>> CompileForMaster(const PlanRequest& request,
                                                                std::vector<Output> feeds);
  absl::Status RunOnMaster(const SessionPlan& plan, absl::Span<const Tensor* const> feeds,
                           Tensor* fetches, const RunOptions& options, RunMetadata* metadata);
  void WarnOfGrowth();

  Graph& graph_;
  TaskExecutor executor_;
  std::atomic<bool> closed_{false};
  CancellationManager closing_;          // of steps whose parts are on several tasks
  std::vector<DeviceInfo> all_devices_;  // this task's first

  // Held shared by who reads the graph in other ways than through handles; compiling holds
  // compile_mutex_ first.
  mutable std::shared_mutex graph_mutex_;
  // Compiling, which may wait for other tasks; who closes does not wait for it.
  std::mutex compile_mutex_;
  std::unordered_map<std::string, std::string> stateful_devices_;  // by node; while compiling
  int known_nodes_ = 0;            // ids of the graph when last compiled; while compiling
  int growths_ = 0;                // while compiling
  bool warned_of_memory_ = false;  // while compiling
  std::mutex mutex_;               // of writers of the cache; last
  std::atomic<bool> has_run_{false};
  PlanCache cache_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
