// Copies the part of a graph that steps with the same feeds, fetches and targets need.
//
// The copy has the targets and all nodes on which a fetch or target depends, except those needed
// only for fed tensors. Fed tensors become outputs of _Arg nodes, and fetched tensors become inputs
// of _Retval nodes. Their attribute `index` is the position among the feeds or fetches. Control
// edges from a fed placeholder are dropped, because the feed is there from the start. In a partial
// run they become edges from the _Recv node that receives the feed. Pruning runs before all other
// passes, so that they see no nodes that do not run. The original graph is only read. Cost: linear
// in the copied part.
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
  // Set for partial runs, empty for others. Feeds then become _Recv nodes and fetches become _Send
  // nodes on this device, which exchange the tensors with the client through the step's rendezvous.
  std::string client_device;
};
// Returns the key under which the client of a partial run sends or receives the tensor through the
// step's rendezvous (executor/wait/rendezvous.h).
std::string ClientKey(const Output& tensor, const std::string& client_device);
// Whether the key was made by ClientKey.
bool IsClientKey(std::string_view key);

// Returns the pruned copy. INVALID_ARGUMENT, in TensorFlow's words, if a tensor is fed twice, a
// tensor is both fed and fetched, or nothing is fetched or run. INVALID_ARGUMENT also if a needed
// node has an input that is not connected, or if the steps would run an _Arg or _Retval that was in
// the original graph. NOT_FOUND if the op of a needed node is not registered.
absl::StatusOr<std::unique_ptr<Graph>> Prune(absl::Span<const Output> feeds,
                                             absl::Span<const Output> fetches,
                                             absl::Span<const Operation> targets,
                                             const PruneOptions& options = {});

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PRUNE_H_
