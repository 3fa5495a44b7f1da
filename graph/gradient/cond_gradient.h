// Gradient functions of the ops at both ends of a cond. The gradient of a Switch is a Merge, and
// the gradient of a Merge is a Switch.
#ifndef SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_
#define SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Gradient functions of the ops Switch and Merge.
void SwitchGradient(Backprop& b);
void MergeGradient(Backprop& b);

namespace gradient {

// Returns zeros as the gradient of output `index` of `op`, if other outputs have gradients and this
// one has none. If `op` is a Switch, the zeros are alive when the branch of the other output is
// taken.
Output ZerosFor(Node* op, int index);

}  // namespace gradient
}  // namespace sluice

#endif  // SLUICE_GRAPH_GRADIENT_COND_GRADIENT_H_
