// Finds tensors whose batches have the same size, even if the size is unknown before the step.
//
// A batch is identified by the first tensor that has it. Results of convolutions, pools and
// elementwise nodes of x have x's batch, and so have tensors that are made in the shape of one.
//
// Thread safety: that of the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

// The tensor whose shape is this output of a Shape or ShapeN. Invalid for other nodes.
Output ShapedLike(Output sizes);

class ImageBatches {
 public:
  explicit ImageBatches(const Graph& graph) : origins_(graph.num_node_ids()) {}

  // Whether the batches of both certainly have one size: it is known, or they have one origin.
  bool Same(Output a, Output b) const;

  // Notes that output 0 of `node` has the batch of all `images`. Call it in topological order.
  void Say(const Node& node, absl::Span<const Output> images);
  // The same for nodes that make a tensor in the shape of another one.
  void SayBySizes(const Node& node);

 private:
  Output OriginOf(Output t) const;

  std::vector<Output> origins_;  // of output 0, by node id; invalid for the tensor itself
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
