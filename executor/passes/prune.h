// Copies the part of a graph that steps with the same feeds, fetches and targets need.
//
// The copy has the targets and all nodes on which a fetch or target depends, except those needed
// only for fed tensors. Fed tensors become outputs of `_Arg` nodes, and fetched tensors become
// inputs of `_Retval` nodes. Attribute `index` numbers both. Control edges from a fed placeholder
// are dropped, because the feed is there from the start; in a partial run they become edges from
// the _Recv. Pruning runs before all other passes, so that they see no nodes that do not run. The
// original graph is only read. Cost: linear in the copied part.
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
  // Set for partial runs. Feeds then become _Recv nodes and fetches become _Send nodes on this
  // device, which exchange the tensors with the client through the step's rendezvous.
  std::string client_device;
};
// The key under which the client of a partial run sends or receives the tensor through the
// rendezvous.
std::string ClientKey(const Output& tensor, const std::string& client_device);
bool IsClientKey(std::string_view key);

// INVALID_ARGUMENT `Endpoint "<t>" fed more than once.`, "<t> is both fed and fetched.", or "Must
// specify at least one target to fetch or execute.", if an input of a needed node is not connected,
// and if an imported _Feed node that is needed is not fed. NOT_FOUND if a needed op is not
// registered.
absl::StatusOr<std::unique_ptr<Graph>> Prune(absl::Span<const Output> feeds,
                                             absl::Span<const Output> fetches,
                                             absl::Span<const Operation> targets,
                                             const PruneOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PRUNE_H_
