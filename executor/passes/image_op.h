// What a node does with images whose channels come before their height and width (NCHW), and so
// what has to be turned for channels that come last (NHWC).
//
// Only nodes that cannot fail by the sizes of their images, or whose message does not depend on the
// order of those, are told of: sizes are known but for that of the batch, and fit.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_

#include <array>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "executor/passes/image_batches.h"
#include "graph/ir/graph.h"

namespace sluice {

// Dimension i of the turned image is dimension kChannelsLast[i] of what is [batch, channels,
// height, width]; and the way back.
using ImageOrder = std::array<int, 4>;
inline constexpr ImageOrder kChannelsLast = {0, 2, 3, 1};
inline constexpr ImageOrder kChannelsFirst = {0, 3, 1, 2};

// An input that speaks of the dimensions of images.
enum class OperandKind {
  kSizes,     // a number a dimension
  kPaddings,  // a constant: two numbers a dimension
  kAxes,      // a constant: numbers of dimensions
};

struct ImageOp {
  absl::InlinedVector<int, 4> images;  // the inputs that are images
  bool makes_image = true;             // output 0 is one; other outputs never are
  int operand = -1;                    // an input that `operand_kind` tells of; -1: none
  OperandKind operand_kind = OperandKind::kSizes;
  // The kernel turns images itself, on every call, where channels come first.
  bool turns_inside = false;
  bool is_convolution = false;
};

// Nothing where `node` is to be left as it is, for what can be seen of it alone. What is known of
// its batch is added to `batches`; so all nodes are asked about, in topological order.
std::optional<ImageOp> ImageOpOf(const Node& node, ImageBatches& batches);

// Changes the attributes and the shape of output 0 for channels that come last.
void PutChannelsLast(Node* node, const ImageOp& op);

PartialShape InOrder(const PartialShape& shape, const ImageOrder& order);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_OP_H_
