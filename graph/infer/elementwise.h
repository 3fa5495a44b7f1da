// Functions for OpDefBuilder::With that declare an op as elementwise: an element of output 0
// depends only on the elements of the inputs at the same position. They set the op's shape function
// and its elementwise trait. Because of the trait, graph passes can fuse the op, recompute it and
// change the layout of its data. The op's kernels must be ElementwiseLoopKernels
// (executor/kernel/elementwise_loops.h).
#ifndef SLUICE_GRAPH_INFER_ELEMENTWISE_H_
#define SLUICE_GRAPH_INFER_ELEMENTWISE_H_

#include "graph/op/op_def.h"

namespace sluice {

// For ops with one input, or with several of equal shape. Output 0 has the same shape.
void ElementByElement(OpDefBuilder& op);
// For ops with two inputs, which are broadcast.
void ElementsBroadcast(OpDefBuilder& op);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_ELEMENTWISE_H_
