// Attention as it is built of ops, softmax(q * k^T * scale + mask) * v, becomes one node, and what
// its gradients by q, k and v are made of another: the scores are made block by block in the cache,
// once for each, and are never in memory. (After Dao et al., 2022, "FlashAttention".)
#ifndef SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
#define SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"
#include "graph/ir/graph.h"

namespace sluice {

// How many softmaxes went into such nodes. Of float, where sizes are known before the step, and all
// nodes were asked for on one device; the scale is a constant, and scale and mask may be missing.
// Left as they are: what is fetched, or on an output of a Switch; weights that something is done to
// (a dropout), scores and weights that somebody else reads; operands that may lie in a variable,
// since they are read later than before. After the pass that merges equal nodes.
absl::StatusOr<int> FuseAttention(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
