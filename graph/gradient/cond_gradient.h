// Gradients of the ops at both ends of a cond. The gradient of a Switch is a Merge, and that of a
// Merge is a Switch.
#ifndef SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_
#define SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Gradient functions of the ops Switch and Merge.
void SwitchGradient(Backprop& b);
void MergeGradient(Backprop& b);

namespace gradient {

// Zeros for output `index` of `op`, which has no gradient although another output has one. For a
// Switch into a branch they are alive if the other branch is taken.
Output ZerosFor(Node* op, int index);

}  // namespace gradient
}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_
