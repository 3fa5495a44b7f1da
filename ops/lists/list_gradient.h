// Gradients of the ops on tensor lists: the gradient of a list is a list of gradients.
// Reference behaviour: TensorFlow's list_ops.py.
#ifndef SLUICE_OPS_LISTS_LIST_GRADIENT_H_
#define SLUICE_OPS_LISTS_LIST_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice::tensor_list {

void PushBackGradient(Backprop& b);
void PopBackGradient(Backprop& b);
void SetItemGradient(Backprop& b);
void GetItemGradient(Backprop& b);
void StackGradient(Backprop& b);
void FromTensorGradient(Backprop& b);
void GatherGradient(Backprop& b);
void ScatterGradient(Backprop& b);
void ScatterIntoGradient(Backprop& b);
void ConcatGradient(Backprop& b);
void SplitGradient(Backprop& b);
void ResizeGradient(Backprop& b);

}  // namespace sluice::tensor_list

#endif  // SLUICE_OPS_LISTS_LIST_GRADIENT_H_
