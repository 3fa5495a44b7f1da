// Gradient functions of FusedBatchNorm and of its gradient ops.
#ifndef SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
#define SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_

#include "graph/gradient/backprop.h"

namespace sluice {

// Gradient of FusedBatchNorm, V2 and V3. Adds the gradient op of the same version. In inference
// that op requires channels last, so images of other formats are transposed before and after it.
void BatchNormGradient(Backprop& b);

// Gradient of the gradient ops. Expresses a gradient op by elementary ops, and adds the gradient
// nodes of the elementary ops.
void BatchNormSecondGradient(Backprop& b);

}  // namespace sluice

#endif  // SLUICE_OPS_NN_BATCH_NORM_GRADIENT_H_
