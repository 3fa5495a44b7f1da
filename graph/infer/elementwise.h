// Mixins that give elementwise ops their shape function and traits (OpDefBuilder::With). Because of
// these traits, passes can fuse such ops, recompute them and change their layout. The op's kernels
// must be ElementwiseLoopKernels (ops/loops).
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
