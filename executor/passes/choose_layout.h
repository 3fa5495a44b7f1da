// Runs image ops that were built with channels before height and width (data_format NCHW) with
// channels last (NHWC), the layout that their kernels compute in.
//
// An NCHW kernel transposes its images to NHWC, and its result back, on every call. The pass finds
// chains of such nodes, with the elementwise nodes, biases, sums, pads and reductions between them,
// and makes the whole chain NHWC. Transposes are then needed only where a chain begins or ends. A
// chain is changed if it has a convolution and if fewer elements are transposed than before. A node
// changes in place and keeps its name. Readers outside the chain, such as fetches, read a Transpose
// of the image. Readers of its shape get the shape of the NCHW image.
//
// Convolutions and sums over images (BiasAddGrad, batch norm, reductions) may differ in their last
// bits, because their kernels sum the elements in another order. All other results keep their bits.
// Errors stay the same: the pass changes only nodes that cannot fail because of the sizes of their
// images, or whose message does not show these sizes (image_op.h). It leaves alone stateful nodes,
// kept nodes, and nodes whose images may be in a variable's memory, because a Transpose could read
// the variable at another time.
//
// Runs after constant folding, which makes axes and sizes constant; before simplify, which cancels
// the user's Transposes with those made here; and before the merge of common subexpressions,
// because Transposes made here may be equal. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
#define SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that became NHWC.
absl::StatusOr<int> ChooseLayout(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
