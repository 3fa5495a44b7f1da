// Which outputs are constants, whatever lies between.
#ifndef SLUICE_GRAPH_IR_CONSTANT_H_
#define SLUICE_GRAPH_IR_CONSTANT_H_

#include "graph/ir/graph.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// The value of `output` where it is a constant, seen through Identity and the Enter of a loop's
// invariant; null elsewhere. It lives as long as the constant's node.
const Tensor* ConstantBehind(Output output);

}  // namespace sluice

#endif  // SLUICE_GRAPH_IR_CONSTANT_H_
