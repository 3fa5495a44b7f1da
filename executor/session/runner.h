// Interface that runs the steps of a session: in this process (local_runner.h), with parts on other
// tasks of a cluster (cluster_runner.h), or at a master in another process (remote_runner.h).
#ifndef SLUICE_EXECUTOR_SESSION_RUNNER_H_
#define SLUICE_EXECUTOR_SESSION_RUNNER_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/plan/plan.h"
#include "executor/session/partial_run.h"
#include "executor/session/request.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class Rendezvous;  // executor/wait/rendezvous.h

// The values and options of one Run.
struct StepCall {
  absl::Span<const Tensor* const> feeds;  // one value per feed
  Tensor* fetches;                        // one per fetch; set if Run returns OK
  const RunOptions& options;
  RunMetadata* metadata = nullptr;
  // The rendezvous through which a partial run exchanges tensors with its client. Null for other
  // runs.
  Rendezvous* client = nullptr;
};

// A combination of feeds, fetches and targets that is ready to run.
// Thread safety: all methods may be called from any thread.
class PreparedStep {
 public:
  PreparedStep(std::vector<Output> feeds, size_t num_fetches)
      : feeds_(std::move(feeds)), num_fetches_(num_fetches) {}
  virtual ~PreparedStep() = default;

  virtual absl::Status Run(const StepCall& call) = 0;
  // Cancels the Runs in progress.
  virtual void CancelRuns(const absl::Status& status) = 0;
  // The plan if the whole step runs on this task, otherwise null.
  virtual const Plan* plan() const { return nullptr; }

  const std::vector<Output>& feeds() const { return feeds_; }
  size_t num_fetches() const { return num_fetches_; }
  // INVALID_ARGUMENT if the type or shape of a value for feed i does not fit.
  absl::Status CheckFeed(int i, const Tensor& value) const;

 private:
  const std::vector<Output> feeds_;
  const size_t num_fetches_;
};

// Returns the shapes of the feeds. Called when a new combination of feeds, fetches and targets is
// prepared. An empty result stands for the static shapes of the fed tensors.
using FeedShapes = absl::FunctionRef<std::vector<TensorShape>()>;

// Thread safety: one thread at a time may call Prepare, any thread the other methods.
class Runner {
 public:
  virtual ~Runner() = default;

  virtual absl::StatusOr<std::unique_ptr<PreparedStep>> Prepare(const StepRequest& request,
                                                                FeedShapes shapes) = 0;
  // Assigns a device to every node of the session's graph.
  virtual absl::Status PlaceAll() = 0;
  virtual absl::StatusOr<std::unique_ptr<PartialRun>> StartPartialRun(
      const std::shared_ptr<SessionState>& session, const NamedRequest& request) = 0;
  // Cancels Prepares and Runs in progress, except Runs of local steps. The session ends those with
  // PreparedStep::CancelRuns.
  virtual void Close() = 0;
  // Adds information from the session's graph to a step's error.
  virtual absl::Status Explain(absl::Status error) const = 0;
};

// The error of steps that Session::Close ends.
absl::Status ClosedError();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_RUNNER_H_
