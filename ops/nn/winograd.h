// Convolutions with fewer products (Winograd, 1980; Lavin and Gray, 2015): tiles of the images and
// the filter are transformed, multiplied point by point, and transformed back.
//
// A tile of m x m results of an r x r filter takes (m + r - 1)^2 products in place of (m * r)^2:
// for the 3 x 3 filter and 4 x 4 results a quarter, for 5 x 5 and 2 x 2 about a third. Sums are
// made in another order than the direct ones and are as far from the exact ones as a few float
// roundings of their largest term (conv_kernels_test).
//
// The bits do not depend on the number of threads: tiles are put together into blocks by sizes
// alone.
#ifndef SLUICE_OPS_NN_WINOGRAD_H_
#define SLUICE_OPS_NN_WINOGRAD_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/nn/conv_geometry.h"

namespace sluice::winograd {

// Whether the convolution can be made this way, on this machine, and is worth it.
bool Fits(const ConvGeometry& g);
// The same for the gradient by the filter, whose sums have to fit into a cache.
bool FitsByFilter(const ConvGeometry& g);

// out = conv(in, filter), where Fits.
absl::Status Forward(KernelContext& context, const ConvGeometry& g, const float* in,
                     const float* filter, float* out);

// filter_grad from the gradient of the output, where FitsByFilter.
absl::Status ByFilter(KernelContext& context, const ConvGeometry& g, const float* in,
                      const float* out_grad, float* filter_grad);

}  // namespace sluice::winograd

#endif  // SLUICE_OPS_NN_WINOGRAD_H_
