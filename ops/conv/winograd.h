// Convolutions with fewer products (Winograd, 1980; Lavin and Gray, 2015): tiles of the images and
// the filter are transformed, multiplied point by point, and transformed back.
//
// A tile of m x m results of an r x r filter takes (m + r - 1)^2 products in place of (m * r)^2:
// of 4 x 4 results a quarter for the 3 x 3 filter, a sixth for 5 x 5. Sums are made in another
// order than the direct ones; for normal data they are off by 0.9e-6 (3 x 3) and 2.6e-6 (5 x 5) of
// the results' spread, sums one by one by 0.3e-6 and 0.5e-6 (conv_kernels_test has the largest).
//
// The bits do not depend on the number of threads: tiles are put together into blocks by sizes
// alone.
#ifndef SLUICE_OPS_CONV_WINOGRAD_H_
#define SLUICE_OPS_CONV_WINOGRAD_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/conv_geometry.h"

namespace sluice::winograd {

// Whether the convolution can be made this way, on this machine, and is worth it.
bool Fits(const ConvGeometry& g);
// The same for the gradient by the filter, whose sums have to fit into a cache.
bool FitsByFilter(const ConvGeometry& g);

// The transformed filter, where Fits: the same for images of all sizes. RESOURCE_EXHAUSTED.
absl::StatusOr<Tensor> Factors(KernelContext& context, Allocator& allocator, const ConvGeometry& g,
                               const float* filter);
// out = conv(in, filter), where Fits.
absl::Status Forward(KernelContext& context, const ConvGeometry& g, const float* in,
                     const Tensor& factors, float* out);

// filter_grad from the gradient of the output, where FitsByFilter.
absl::Status ByFilter(KernelContext& context, const ConvGeometry& g, const float* in,
                      const float* out_grad, float* filter_grad);

}  // namespace sluice::winograd

#endif  // SLUICE_OPS_CONV_WINOGRAD_H_
