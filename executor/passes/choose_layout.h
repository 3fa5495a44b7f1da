// Changes image nodes that were built with channels before height and width (data_format NCHW) to
// channels last (NHWC), the layout in which the kernels compute.
//
// A kernel for NCHW transposes its images to NHWC and its result back, on every call. In a chain of
// such nodes, all nodes become NHWC, with a Transpose only at the beginning and the end.
// Elementwise nodes, biases, sums, pads and reductions can be part of a chain. The pass changes a
// chain if the chain has a convolution and if fewer elements are transposed afterwards. A node
// changes in place and keeps its name. Readers outside the chain, for example fetches, read a
// Transpose of the image. Nodes that query the shape of an image get the shape of the NCHW image.
//
// Exactness: convolutions and sums over images (BiasAddGrad, batch norm, reductions) may differ in
//   their last bits, because their kernels sum the elements in another order. Everything else keeps
//   its bits. Errors stay the same: a node is changed only if it cannot fail because of the sizes
//   of its images, or if its error does not name these sizes (graph/infer/image_roles.h).
// Left alone: impure nodes, nodes in PassOptions::keep, and nodes whose images may lie in the
//   memory of a variable, since a Transpose could read the variable at another time.
// Order: after fold_constants, which makes axes and sizes constant. Before simplify, which cancels
//   the user's Transposes with the new ones, and before common_subexpressions, which merges equal
//   Transposes.
// Cost: linear in the graph.
#ifndef SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
#define SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_

#include "absl/status/statusor.h"
#include "executor/passes/pass_options.h"

namespace sluice {

// Returns the number of nodes that became NHWC.
absl::StatusOr<int> ChooseLayout(Graph& graph, const PassOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_CHOOSE_LAYOUT_H_
