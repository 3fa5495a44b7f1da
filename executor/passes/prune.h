// The part of a graph that one kind of step needs, as a graph of its own.
//
// Before everything else, so that no later stage sees what is not run. What is kept: the targets,
// and all nodes from which a fetch or target can be reached, cut at fed tensors. Fed tensors are
// outputs of `_Arg` nodes, fetched ones inputs of `_Retval` nodes; attribute `index` numbers both.
// Linear in what is kept. The source is only read.
#ifndef SLUICE_EXECUTOR_PASSES_PRUNE_H_
#define SLUICE_EXECUTOR_PASSES_PRUNE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

// INVALID_ARGUMENT: `Endpoint "<t>" fed more than once.`, "<t> is both fed and fetched.", and
// "Must specify at least one target to fetch or execute.".
absl::StatusOr<std::unique_ptr<Graph>> Prune(absl::Span<const Output> feeds,
                                             absl::Span<const Output> fetches,
                                             absl::Span<const Operation> targets);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_PRUNE_H_
