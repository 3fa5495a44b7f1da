// Gradients of FusedBatchNorm and of its gradient.
#ifndef SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
#define SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Of FusedBatchNorm, V2 and V3 (`version` 1 to 3): the gradient op of the same version. In
// inference that op takes channels last only, so that other layouts are transposed around it.
void BatchNormGradient(Backprop& b, int version);

// Of the gradient ops: they are written out in elementary ops, and those differentiated.
void BatchNormSecondGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
