// Which image nodes are to have their channels last, so that the fewest elements are turned.
//
// Nodes whose kernels turn images inside are taken to be channels-last to begin with: at worst as
// much is turned before and after them. The others follow where less is then turned; a few sweeps
// over them find chains, without looking for the very least.
//
// Thread safety: none, as of the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/image_op.h"
#include "graph/ir/graph.h"

namespace sluice {

struct ImageNode {
  Node* node;
  ImageOp op;
};

// A reader of a tensor that takes no more than its shape.
bool ReadsShapeAlone(const Node& reader);

// A Transpose that waits for nothing and gives images in the given order; of an input of rank 4.
bool IsTransposeTo(const Node& node, const ImageOrder& order);

// Those of `nodes`, which are in topological order, that are to become channels-last.
std::vector<ImageNode> ChainsOf(const std::vector<ImageNode>& nodes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
