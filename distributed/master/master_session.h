// Holds the graph of a client's session on the master, and runs the steps of the session.
//
// Thread safety: all methods may be called from any thread. Steps run concurrently, also while the
// graph is extended.
// Lifetime: shared by the master and the open calls.
// Errors: an error of a step begins with the name of the task that it comes from, as in TensorFlow.
#ifndef SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_
#define SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/master/cost_graph.h"
#include "distributed/message/tensor_message.h"
#include "distributed/proto/master.pb.h"
#include "executor/session/partial_run.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {

class MasterSession {
 public:
  // `task` is the name of the master's task: "/job:worker/replica:0/task:0". `cost_model` selects
  // the steps whose costs are measured.
  MasterSession(std::string task, const SessionOptions& options, CostModelSteps cost_model = {});

  // Adds nodes to the graph. INVALID_ARGUMENT if a node is invalid or no device can run it.
  // RESOURCE_EXHAUSTED if the nodes and their constants exceed a memory limit. The error has a
  // table of the largest constants.
  absl::Status AddNodes(const pb::GraphDef& nodes);
  // Like AddNodes. Returns the new version of the graph. ABORTED if the present version is not
  // `expected_version`.
  absl::StatusOr<int64_t> Extend(const pb::GraphDef& nodes, int64_t expected_version);

  // Runs a step, or a piece of a partial run if the request has the handle of one. Appends the
  // fetched tensors to `fetches`.
  absl::Status RunStep(const pb::RunStepRequest& request, std::vector<NamedTensor> feeds,
                       CancellationManager* cancellation, std::vector<NamedTensor>* fetches,
                       pb::RunMetadata* metadata);
  absl::StatusOr<std::string> SetUpPartialRun(const pb::PartialRunSetupRequest& request);

  absl::StatusOr<int64_t> MakeCallable(const pb::CallableOptions& options);
  absl::Status RunCallable(int64_t handle, const std::vector<NamedTensor>& feeds,
                           CancellationManager* cancellation, std::vector<NamedTensor>* fetches,
                           pb::RunMetadata* metadata);
  absl::Status ReleaseCallable(int64_t handle);

  // Cancels the running steps. The session keeps `awaiting`, which may be null, until these steps
  // have ended and the session is destroyed. CloseSession passes an object whose destructor sends
  // the response.
  void Close(std::shared_ptr<void> awaiting);
  Session& session() { return session_; }

 private:
  // A step that is ready to run, and how often it has run.
  struct Step {
    explicit Step(Callable own_callable) : callable(std::move(own_callable)) {}
    const Callable callable;
    std::atomic<int64_t> count{0};
  };
  struct MadeCallable {
    std::shared_ptr<Step> step;
    pb::RunOptions options;
    std::vector<std::string> fetches;
  };
  absl::Status AddNodesLocked(const pb::GraphDef& nodes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(extend_mutex_);
  absl::StatusOr<std::shared_ptr<Step>> StepFor(const pb::RunStepRequest& request,
                                                const std::vector<NamedTensor>& feeds,
                                                CancellationManager* cancellation);
  absl::Status RunPartially(const pb::RunStepRequest& request, std::vector<NamedTensor> feeds,
                            CancellationManager* cancellation, std::vector<NamedTensor>* fetches);
  absl::Status Run(Step& step, const std::vector<NamedTensor>& feeds, const pb::RunOptions& options,
                   CancellationManager* cancellation, Tensors* fetches, pb::RunMetadata* metadata);
  absl::Status From(const absl::Status& status) const;
  // Adds the limits of memory to an error that is about memory.
  absl::Status WithLimits(const absl::Status& status) const;

  Mutex mutex_;
  std::shared_ptr<void> awaiting_ ABSL_GUARDED_BY(mutex_);  // destroyed after the session
  std::atomic<int> running_{0};                             // calls that run a step
  const std::string task_;
  const CostModelSteps cost_model_;
  Graph graph_;
  Session session_;
  Mutex extend_mutex_;
  HeldBytes graph_bytes_ ABSL_GUARDED_BY(extend_mutex_);
  int64_t version_ ABSL_GUARDED_BY(extend_mutex_) = 0;

  // Steps by their feeds, fetches and targets.
  std::unordered_map<std::string, std::shared_ptr<Step>> steps_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, MadeCallable> callables_ ABSL_GUARDED_BY(mutex_);
  int64_t next_callable_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs_ ABSL_GUARDED_BY(mutex_);
  int64_t next_partial_run_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_
