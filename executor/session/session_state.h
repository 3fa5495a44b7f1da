// What a session and its Callables share.
#ifndef SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
#define SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/device/device_set.h"
#include "executor/device/thread_pool.h"
#include "executor/kernel/kernel.h"
#include "executor/session/plan_cache.h"
#include "executor/session/session.h"
#include "executor/session/session_plan.h"
#include "executor/step/stalls.h"
#include "executor/step/step.h"

namespace sluice {

class SessionState {
 public:
  SessionState(Graph& graph, SessionOptions options);
  ~SessionState();

  // The plan of the request, compiled if it is new. INVALID_ARGUMENT for handles of other graphs.
  absl::StatusOr<SessionPlan*> PlanFor(const PlanRequest& request);
  // `feed(i)` is the value of feed i; fetches are moved into `fetches`.
  absl::Status RunPlan(SessionPlan& plan, absl::Span<const Tensor* const> feeds, Tensor* fetches,
                       const RunOptions& options, RunMetadata* metadata);
  void Close();

  Graph& graph() const { return graph_; }
  DeviceSet& devices() const { return *options_.devices; }
  Stalls& stalls() { return stalls_; }

 private:
  absl::Status CheckRequest(const PlanRequest& request) const;
  absl::StatusOr<std::unique_ptr<SessionPlan>> Compile(const PlanRequest& request);
  absl::StatusOr<std::shared_ptr<Kernel>> KernelFor(const Node& node,
                                                    const std::shared_ptr<const Graph>& graph);
  void WarnOfGrowth();
  absl::Status RunStep(Step& step, const StepArguments& arguments, const RunOptions& options);

  Graph& graph_;
  SessionOptions options_;
  std::shared_ptr<ThreadPool> intra_op_;  // null: the caller alone
  std::shared_ptr<ThreadPool> inter_op_;
  Stalls stalls_;
  StepEnvironment environment_;
  std::atomic<bool> closed_{false};

  std::mutex mutex_;  // compiling; readers of the cache take it not
  struct StatefulKernel {
    std::shared_ptr<Kernel> kernel;
    std::shared_ptr<const Graph> graph;  // of the node that it was made from
  };
  std::unordered_map<std::string, StatefulKernel> kernels_;        // by node; guarded by mutex_
  std::unordered_map<std::string, std::string> stateful_devices_;  // by node; guarded by mutex_
  int known_nodes_ = 0;  // ids of the graph when last compiled; guarded by mutex_
  int growths_ = 0;      // guarded by mutex_
  std::atomic<bool> has_run_{false};
  PlanCache cache_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_SESSION_STATE_H_
