// Image ops that were built with channels before height and width (data_format NCHW) run with
// channels last (NHWC), which is what their kernels compute in.
//
// A kernel for NCHW turns its images into NHWC and what it makes back, on every call. Where such
// nodes follow each other, by themselves or with elementwise nodes, biases, sums, pads and
// reductions between them, the whole chain becomes NHWC, and a Transpose stands only where one
// begins or ends: a chain that has a convolution, and of which fewer elements are turned than
// before. A node changes in place and keeps its name; who reads an image from outside the chain, a
// fetch for example, reads a Transpose of it; who asks for its shape is given that of the NCHW
// image.
//
// Convolutions and sums over images (BiasAddGrad, batch norm, reductions) may differ in their last
// bits, as their kernels sum what channels-first images have in another order; all else keeps its
// bits. Errors are what they were: only nodes are changed that cannot fail by the sizes of their
// images, or with a message that does not show them (image_op.h). Never touched: stateful and kept
// nodes, and nodes whose images may lie in a variable's memory, since a Transpose could read that
// at another time. After constant folding, which makes constants of axes and sizes; before
// simplify, where the user's own Transposes cancel with those made here, and before equal nodes are
// merged, since those made here may be. Linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
#define SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_

#include "absl/status/statusor.h"
#include "executor/passes/passes.h"

namespace sluice {

// The number of nodes that became NHWC.
absl::StatusOr<int> ChooseLayout(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
