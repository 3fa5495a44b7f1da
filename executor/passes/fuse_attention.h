// Replaces attention that is built of ops, softmax(q * k^T * scale + mask) * v, by one node, and
// its gradients with respect to q, k and v by another node. Both compute the scores block by block
// in the cache and never store them. (After Dao et al., 2022, "FlashAttention".)
#ifndef SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
#define SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Replaces attention in float if all its sizes are known before the step and all its nodes were
// requested for the same device. The scale must be a constant. Scale and mask may be missing.
// Returns the number of softmaxes that were replaced.
// Left alone:
// - nodes that are fetched or that read an output of a Switch,
// - weights that are changed before they are used (dropout),
// - scores and weights that other nodes read,
// - operands that may lie in the memory of a variable, since the new node reads them later.
// Order: after common_subexpressions.
absl::StatusOr<int> FuseAttention(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
