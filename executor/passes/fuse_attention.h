// Fuses softmax attention, softmax(q * k^T * scale + mask) * v, into one node, and its gradients
// with respect to q, k and v into another. Both compute the scores block by block in the cache, so
// that the scores are never in memory. Reference: Dao et al., "FlashAttention", 2022.
#ifndef SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
#define SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"
#include "graph/ir/graph.h"

namespace sluice {

// Returns the number of fused softmaxes. Requires float, shapes that are known before the step, a
// constant scale, and the same requested device for all nodes. Scale and mask may be missing. It
// leaves alone fetched nodes, outputs of a Switch, weights that an op changes (such as a dropout),
// scores and weights with other readers, and operands that may be in a variable, because the fused
// node reads them later. Runs after the merge of common subexpressions.
absl::StatusOr<int> FuseAttention(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_FUSE_ATTENTION_H_
