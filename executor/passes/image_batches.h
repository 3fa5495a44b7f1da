// Finds tensors that have equal batch sizes although the size is not known before the step.
//
// Tensors have the same batch if their batch sizes are equal by construction: the results that
// convolutions, pools and elementwise nodes compute from x have the batch of x, and so do tensors
// that a node makes in the shape of such a result. A batch is identified by the tensor with this
// batch whose node was added to the graph first.
//
// Thread safety: none, like the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

// If `sizes` is an output of a Shape or ShapeN, returns the tensor whose shape it is. Otherwise
// returns an invalid Output.
Output TensorWithShape(Output sizes);

class ImageBatches {
 public:
  explicit ImageBatches(const Graph& graph) : origins_(graph.num_node_ids()) {}

  // Whether `a` and `b` certainly have equal batch sizes: both sizes are known and equal, or `a`
  // and `b` have the same batch.
  bool HaveSame(Output a, Output b) const;

  // Records that output 0 of `node` has the batch of `images`, which all have the same batch. Must
  // be called for the nodes in topological order.
  void Record(const Node& node, absl::Span<const Output> images);
  // If output 0 of the node is made in the shape of another tensor, records that it has the batch
  // of that tensor.
  void RecordFromSizes(const Node& node);

 private:
  Output OriginOf(Output t) const;

  // By node id: the tensor that identifies the batch of output 0. Invalid: output 0 itself.
  std::vector<Output> origins_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
