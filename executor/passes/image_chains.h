// Chooses the image nodes that get channels last, so that few elements are transposed.
//
// Nodes whose kernels transpose images inside start as channels-last: at worst as much is
// transposed before and after them. Other nodes follow if less is then transposed. A few sweeps
// over them find chains; the minimum is not searched for.
//
// Thread safety: none, like the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/image_op.h"
#include "graph/ir/graph.h"

namespace sluice {

struct ImageNode {
  Node* node;
  ImageRoles roles;
};

// Whether the reader needs no more than the shape of its inputs.
bool ReadsShapeAlone(const Node& reader);

// Whether the node is a Transpose without control inputs that gives an image the order.
bool IsTransposeTo(const Node& node, const ImageOrder& order);

// The nodes that become channels-last. `nodes` is in topological order.
std::vector<ImageNode> ChainsOf(const std::vector<ImageNode>& nodes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
