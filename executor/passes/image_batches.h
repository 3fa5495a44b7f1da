// Which tensors have batches of one size though the size is not known before the step.
//
// A batch is named for the oldest tensor that has it: what convolutions, pools and elementwise
// nodes make of x has x's batch, and so has what is shaped as one of them.
//
// Thread safety: none, as of the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

// The tensor whose shape is this output of a Shape or ShapeN; an invalid one of other nodes.
Output ShapedLike(Output sizes);

class ImageBatches {
 public:
  explicit ImageBatches(const Graph& graph) : origins_(graph.num_node_ids()) {}

  // Of one size for certain: by what is known, or by where they come from.
  bool Same(Output a, Output b) const;

  // Output 0 of `node` has the batch of all of `images`: what is said of a node is said after what
  // it reads was.
  void Say(const Node& node, absl::Span<const Output> images);
  // The same where the node is one that makes a tensor shaped as another.
  void SayBySizes(const Node& node);

 private:
  Output OriginOf(Output t) const;

  std::vector<Output> origins_;  // of output 0, by node id; invalid: itself
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
