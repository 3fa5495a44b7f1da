// Gradients of ops that call functions. They are calls again, of new functions in the graph's
// library.
//
// The gradient of a call runs the body once more and differentiates it (SymbolicGradient, which
// LowerFunctions expands). UNIMPLEMENTED, with the op's name, for a body that draws random numbers
// or changes state: a second run would not repeat the first. LowerFunctions with keep_all_names
// first makes such calls part of the graph, whose gradients keep forward values.
#ifndef SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
#define SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

void CallGradient(Backprop& b);      // PartitionedCall, StatefulPartitionedCall
void BranchesGradient(Backprop& b);  // If, Case
void WhileGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_CALL_GRADIENT_H_
