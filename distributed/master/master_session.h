// A session of a client of the master: its graph, and the steps that it asked for.
//
// Thread safety: all methods from any thread; steps run side by side, also while the graph is
// extended. Lifetime: shared by the master and the calls under way.
// Errors: those of the step begin with the task that they come from, as TensorFlow's do.
#ifndef SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_
#define SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "distributed/proto/master.pb.h"
#include "distributed/wire/tensor_message.h"
#include "executor/session/partial_run.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"

namespace sluice {

class MasterSession {
 public:
  // `task` is the master's own: "/job:worker/replica:0/task:0".
  MasterSession(std::string task, const SessionOptions& options);

  // INVALID_ARGUMENT for nodes that no graph may have, and where no device fits.
  absl::Status AddNodes(const pb::GraphDef& nodes);
  // ABORTED where the client's version is not this one's.
  absl::StatusOr<int64_t> Extend(const pb::GraphDef& nodes, int64_t expected_version);

  // A step, or a piece of a partial run.
  absl::Status RunStep(const pb::RunStepRequest& request, std::vector<NamedTensor> feeds,
                       CancellationManager* cancellation, std::vector<NamedTensor>* fetches,
                       pb::RunMetadata* metadata);
  absl::StatusOr<std::string> SetUpPartialRun(const pb::PartialRunSetupRequest& request);

  absl::StatusOr<int64_t> MakeCallable(const pb::CallableOptions& options);
  absl::Status RunCallable(int64_t handle, const std::vector<NamedTensor>& feeds,
                           CancellationManager* cancellation, std::vector<NamedTensor>* fetches,
                           pb::RunMetadata* metadata);
  absl::Status ReleaseCallable(int64_t handle);

  // Cancels the steps under way; `ended` is let go when they and the session have ended.
  void Close(std::shared_ptr<void> ended = nullptr);
  Session& session() { return session_; }

 private:
  struct MadeCallable {
    Callable callable;
    pb::RunOptions options;
    std::vector<std::string> fetches;
  };
  absl::StatusOr<Callable> CallableFor(const pb::RunStepRequest& request,
                                       const std::vector<NamedTensor>& feeds);
  absl::Status RunPiece(const pb::RunStepRequest& request, std::vector<NamedTensor> feeds,
                        CancellationManager* cancellation, std::vector<NamedTensor>* fetches);
  absl::Status Run(const Callable& callable, const std::vector<NamedTensor>& feeds,
                   const pb::RunOptions& options, CancellationManager* cancellation,
                   Tensors* fetches, pb::RunMetadata* metadata);
  absl::Status From(const absl::Status& status) const;

  std::shared_ptr<void> ended_;  // first, so that it goes last; guarded by mutex_
  const std::string task_;
  Graph graph_;
  Session session_;
  std::mutex extend_mutex_;
  int64_t version_ = 0;  // guarded by extend_mutex_

  std::mutex mutex_;
  std::unordered_map<std::string, Callable> steps_;  // by their names; guarded by mutex_
  std::map<int64_t, MadeCallable> callables_;        // guarded by mutex_
  int64_t next_callable_ = 0;                        // guarded by mutex_
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs_;  // guarded by mutex_
  int64_t next_partial_run_ = 0;                                     // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_MASTER_SESSION_H_
