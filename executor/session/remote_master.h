// Interface to a master in another process. The master has a copy of a session's graph and runs the
// session's steps by name. distributed/ implements it. RemoteRunner uses it.
//
// Thread safety: one thread at a time may call Update, any thread the other methods.
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

  // The address of the master, such as "grpc://ps0:7077".
  virtual const std::string& target() const = 0;
  // Sends the nodes that were added to the graph since the last call.
  virtual absl::Status Update(const Graph& graph) = 0;

  struct Names {
    std::vector<std::string> feeds, fetches, targets;
  };
  // Runs a step, or a piece of the partial run with handle `partial_run`. Sets fetches[i] to the
  // value of names.fetches[i].
  virtual absl::Status Run(const Names& names, absl::Span<const Tensor* const> feeds,
                           Tensor* fetches, const RunOptions& options, RunMetadata* metadata,
                           const std::string& partial_run = "") = 0;
  // Starts a partial run and returns its handle.
  virtual absl::StatusOr<std::string> SetUpPartialRun(const Names& names) = 0;
  // Closes the session at the master. Its steps in progress end with CANCELLED.
  virtual absl::Status Close() = 0;

  using Factory = std::function<absl::StatusOr<std::shared_ptr<RemoteMaster>>(
      const std::string& target, const SessionOptions& options)>;
  // Registers the factory for targets "<scheme>://…". A library that implements RemoteMaster calls
  // this when the program starts.
  static void RegisterFactory(const std::string& scheme, Factory factory);
  // Connects to a master. NOT_FOUND in TensorFlow's words if no factory is registered for the
  // target.
  static absl::StatusOr<std::shared_ptr<RemoteMaster>> Connect(const std::string& target,
                                                               const SessionOptions& options);
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_SESSION_REMOTE_MASTER_H_
