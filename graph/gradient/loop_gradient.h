// Gradients of the ops that a while loop is made of: each end of the backward loop is the other end
// of the forward one.
#ifndef SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_
#define SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Of Enter, Exit and NextIteration, and of their forms for references. UNIMPLEMENTED, naming the
// loop's node, for the gradient of a gradient's loop: TensorFlow has none either.
void EnterGradient(Backprop& b);
void ExitGradient(Backprop& b);
void NextIterationGradient(Backprop& b);

namespace gradient {

// A variable's Switch in a loop (graph/build/while.h: IsLoopSwitch), visited twice; and its Merge.
void LoopSwitchGradient(Backprop& b);
void LoopMergeGradient(Backprop& b);

}  // namespace gradient
}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_LOOP_GRADIENT_H_
