// The part of a graph that one kind of step needs, as a graph of its own.
//
// Before everything else, so that no later stage sees what is not run. What is kept: the targets,
// and all nodes from which a fetch or target can be reached, cut at fed tensors. Fed tensors are
// outputs of `_Arg` nodes, fetched ones inputs of `_Retval` nodes; attribute `index` numbers both.
// Linear in what is kept. The source is only read.
#ifndef SLUICE_EXECUTOR_PASSES_PRUNE_H_
#define SLUICE_EXECUTOR_PASSES_PRUNE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

struct PruneOptions {
  // Set for a step that is fed and fetched piece by piece: feeds are then _Recv nodes and fetches
  // _Send nodes, on this device, which meet the client in the step's rendezvous.
  std::string client_device;
};
// The key under which the client sends or receives the tensor.
std::string ClientKey(const Output& tensor, const std::string& client_device);
bool IsClientKey(std::string_view key);

// INVALID_ARGUMENT: `Endpoint "<t>" fed more than once.`, "<t> is both fed and fetched.", and
// "Must specify at least one target to fetch or execute.".
absl::StatusOr<std::unique_ptr<Graph>> Prune(absl::Span<const Output> feeds,
                                             absl::Span<const Output> fetches,
                                             absl::Span<const Operation> targets,
                                             const PruneOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PRUNE_H_
