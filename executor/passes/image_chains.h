// Chooses for ChooseLayout (choose_layout.h) the image nodes that become channels-last (NHWC), so
// that few elements are transposed.
//
// A node whose kernel transposes NCHW images inside is channels-last from the beginning: at worst,
// Transposes before and after the node do what its kernel did inside. Other nodes follow if fewer
// elements are then transposed. A few sweeps over all nodes find good chains, but not always the
// best ones.
//
// Thread safety: none, like the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/image_op.h"
#include "graph/ir/graph.h"

namespace sluice {

// A node that can become channels-last, and its inputs and outputs that are images.
struct ImageNode {
  Node* node;
  ImageRoles roles;
};

// Whether the reader uses only the shapes of its inputs, not their elements.
bool ReadsShapeAlone(const Node& reader);

// Whether the node is a Transpose without control inputs whose permutation is `order`.
bool IsTransposeTo(const Node& node, const ImageOrder& order);

// Returns those of `nodes` that become channels-last. `nodes` is in topological order.
std::vector<ImageNode> ChainsOf(const std::vector<ImageNode>& nodes);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_CHAINS_H_
