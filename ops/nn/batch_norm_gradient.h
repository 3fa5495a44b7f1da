// Gradients of FusedBatchNorm and of its gradient.
#ifndef SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
#define SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// For FusedBatchNorm, V2 and V3: the gradient op of the same version. In inference that op takes
// channels last only, so that images of other formats are transposed around it.
void BatchNormGradient(Backprop& b);

// For the gradient ops: writes them out in elementary ops, and differentiates those.
void BatchNormSecondGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
