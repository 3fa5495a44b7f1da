// Gradient functions of the ops on TensorArrays. The gradient of a read is a write to the array of
// gradients, and the gradient of a write is a read from it.
//
// Each call of Gradients makes a separate array of gradients. It is identified by the forward array
// and by `source`, the name scope of that call. Flow tensors order the accesses.
// Reference: TensorFlow's tensor_array_grad.py, with the same nodes and names.
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
