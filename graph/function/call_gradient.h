// Gradient functions of ops that call functions. The gradient of a call is a call, too. It calls a
// new function, which is added to the graph's library.
//
// The gradient of a call runs the body once more and differentiates it (SymbolicGradient, which
// LowerFunctions expands). If the body draws random numbers or changes state, a second run would
// differ from the first, so the gradient is UNIMPLEMENTED, with the op's name. To differentiate
// such a call, first replace it by its nodes (LowerFunctions with keep_all_names): their gradients
// use the values of the first run.
#ifndef SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
#define SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

void CallGradient(Backprop& b);      // PartitionedCall, StatefulPartitionedCall
void BranchesGradient(Backprop& b);  // If, Case
void WhileGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
