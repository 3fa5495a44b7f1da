// Gradients of ops that call functions: calls again, of functions made for it.
//
// The gradient of a call runs the call's body once more and goes back through it (SymbolicGradient,
// which graph/function/lower.h makes primitive). A body that draws random numbers or changes state
// would not do the same twice: it is refused with UNIMPLEMENTED, naming the op. LowerFunctions with
// keep_all_names makes such calls part of the graph itself, where gradients keep forward values.
#ifndef SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
#define SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

void CallGradient(Backprop& b);      // PartitionedCall, StatefulPartitionedCall
void BranchesGradient(Backprop& b);  // If, Case
void WhileGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
