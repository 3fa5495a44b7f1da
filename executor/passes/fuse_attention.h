// Replaces attention that is built of ops, softmax(q * k^T * scale + mask) * v, by one node, and
// its gradients with respect to q, k and v by another node. Both compute the scores block by block
// in the cache and never store them. (After Dao et al., 2022, "FlashAttention".)
#ifndef SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
#define SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Replaces a softmax of float if all sizes are known before the step and all nodes were requested
// for one device. The scale is a constant. Scale and mask may be missing. Returns the number of
// replaced softmaxes.
// Left alone:
// - nodes that are fetched or that read an output of a Switch,
// - weights that are changed before they are used (dropout),
// - scores and weights that other nodes read,
// - operands that may lie in a variable, since they are read later than before.
// Order: after common_subexpressions.
absl::StatusOr<int> FuseAttention(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
