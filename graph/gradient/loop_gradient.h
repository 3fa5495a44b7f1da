// Gradient functions of the ops of a while loop. The backward loop begins with the gradients of the
// forward loop's Exits, and its results are the gradients of the forward loop's Enters.
#ifndef SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_
#define SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Gradient functions of Enter, Exit and NextIteration, and of their forms for references. The
// second gradient of a loop is UNIMPLEMENTED, as in TensorFlow. The error names the node.
void EnterGradient(Backprop& b);
void ExitGradient(Backprop& b);
void NextIterationGradient(Backprop& b);

namespace gradient {

// Gradient functions of the Switch of a loop variable (IsLoopSwitch in graph/ir/control_flow.h) and
// of its Merge. The traversal of Gradients visits the Switch twice: once from the Exit and once
// from the body.
void LoopSwitchGradient(Backprop& b);
void LoopMergeGradient(Backprop& b);

}  // namespace gradient
}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_
