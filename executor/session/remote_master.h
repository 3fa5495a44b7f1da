// A master in another process: it has the graph of a session of ours and runs its steps, which
// travel by name. Implemented by distributed/; a session without one runs here.
//
// Thread safety: all methods from any thread, Update by one at a time.
#ifndef SLUICE_EXECUTOR_SESSION_REMOTE_MASTER_H_
#define SLUICE_EXECUTOR_SESSION_REMOTE_MASTER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/session/session.h"
#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class RemoteMaster {
 public:
  virtual ~RemoteMaster() = default;

  // "grpc://ps0:7077"
  virtual const std::string& target() const = 0;
  // Sends the nodes that the graph has got since the last time.
  virtual absl::Status Update(const Graph& graph) = 0;

  struct Names {
    std::vector<std::string> feeds, fetches, targets;
  };
  // A step, or with `partial_run` a piece of one: values of the feeds go, those of the fetches come
  // into `fetches`.
  virtual absl::Status Run(const Names& names, absl::Span<const Tensor* const> feeds,
                           Tensor* fetches, const RunOptions& options, RunMetadata* metadata,
                           const std::string& partial_run = "") = 0;
  // A handle.
  virtual absl::StatusOr<std::string> SetUpPartialRun(const Names& names) = 0;
  // The session's steps under way end with CANCELLED.
  virtual absl::Status Close() = 0;

  using Factory = std::function<absl::StatusOr<std::shared_ptr<RemoteMaster>>(
      const std::string& target, const SessionOptions& options)>;
  // Of targets that begin with "<scheme>://"; by whoever is linked in.
  static void RegisterFactory(const std::string& scheme, Factory factory);
  // Connects. NOT_FOUND, as TensorFlow says it, where no factory knows the target.
  static absl::StatusOr<std::shared_ptr<RemoteMaster>> Connect(const std::string& target,
                                                               const SessionOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REMOTE_MASTER_H_
