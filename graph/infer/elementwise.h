// Mixins that give elementwise ops their shape function and traits (OpDefBuilder::With). By these
// traits the passes can fuse and recompute such an op and change its layout. The op's kernels must
// be ElementwiseLoopKernels (ops/loops).
#ifndef SLUICE_GRAPH_INFER_ELEMENTWISE_H_
#define SLUICE_GRAPH_INFER_ELEMENTWISE_H_

#include "graph/op/op_def.h"

namespace sluice {

// One input, or several of one shape, which is that of output 0.
void ElementByElement(OpDefBuilder& op);
// Two inputs, which are broadcast.
void ElementsBroadcast(OpDefBuilder& op);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_ELEMENTWISE_H_
