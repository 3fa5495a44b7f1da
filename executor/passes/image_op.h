// Finds nodes that can compute images with channels last (NHWC) instead of first (NCHW), and
// changes them to that layout, for ChooseLayout (choose_layout.h).
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_

#include <array>
#include <optional>

#include "executor/passes/image_batches.h"
#include "graph/infer/image_roles.h"
#include "graph/ir/graph.h"

namespace sluice {

// Dimension i of an NHWC image is dimension kChannelsLast[i] of the NCHW image. kChannelsFirst is
// the inverse.
using ImageOrder = std::array<int, 4>;
inline constexpr ImageOrder kChannelsLast = {0, 2, 3, 1};
inline constexpr ImageOrder kChannelsFirst = {0, 3, 1, 2};

// Says which inputs and outputs of the node are images (graph/infer/image_roles.h). Returns nullopt
// if the node cannot change its layout. Does not examine the neighbours of the node. Also records
// the batch of the node's result in `batches`, so it must be called for all nodes, in topological
// order.
std::optional<ImageRoles> ImageRolesOf(const Node& node, ImageBatches& batches);

// Changes the attributes of the node and the shape of its output 0 to channels last.
void PutChannelsLast(Node* node, const ImageRoles& roles);

// Returns the shape of an image of this shape after a Transpose with the permutation `order`.
PartialShape InOrder(const PartialShape& shape, const ImageOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_
