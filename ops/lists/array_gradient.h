// Gradients of the ops on TensorArrays: what was read is written to the gradient's array, and the
// other way round.
//
// The gradient of an array is an array of its own, one for each call of Gradients: it is found
// again by the array and by the name of that call's scope (`source`). Flows order the accesses.
// Reference behaviour: TensorFlow's tensor_array_grad.py: same nodes and names.
#ifndef SLUICE_OPS_LISTS_ARRAY_GRADIENT_H_
#define SLUICE_OPS_LISTS_ARRAY_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

void TensorArrayReadGradient(Backprop& b);
void TensorArrayWriteGradient(Backprop& b);
void TensorArrayGatherGradient(Backprop& b);
void TensorArrayScatterGradient(Backprop& b);
void TensorArrayConcatGradient(Backprop& b);
void TensorArraySplitGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_ARRAY_GRADIENT_H_
