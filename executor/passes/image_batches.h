// Finds tensors that have equal batch sizes although the size is not known before the step.
//
// A batch is identified by the oldest tensor that has it. The results that convolutions, pools and
// elementwise nodes compute from x have the batch of x, and so has a tensor that is made in the
// shape of one of them.
//
// Thread safety: none, like the graph.
#ifndef SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
#define SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/ir/graph.h"

namespace sluice {

// The tensor whose shape is the output `sizes` of a Shape or ShapeN; invalid for other nodes.
Output TensorWithShape(Output sizes);

class ImageBatches {
 public:
  explicit ImageBatches(const Graph& graph) : origins_(graph.num_node_ids()) {}

  // Whether the batches certainly have one size: because it is known, or because of their origin.
  bool HaveSame(Output a, Output b) const;

  // Records that output 0 of `node` has the batch of all of `images`. Called in topological order.
  void Record(const Node& node, absl::Span<const Output> images);
  // The same if output 0 of the node is made in the shape of another tensor.
  void RecordFromSizes(const Node& node);

 private:
  Output OriginOf(Output t) const;

  std::vector<Output> origins_;  // of output 0, by node id; invalid: the output itself
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_IMAGE_BATCHES_H_
