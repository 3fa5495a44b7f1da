// Computes convolutions by Winograd's algorithm, which needs fewer multiplications: it transforms
// tiles of the images and the filter, multiplies them point by point, and transforms the products
// back.
//
// A tile of m x m results of an r x r filter takes (m + r - 1)^2 products instead of (m * r)^2: for
// 4 x 4 results a quarter (3 x 3 filter) or a sixth (5 x 5). Rounding errors are about three times
// (3 x 3) and five times (5 x 5) those of a direct loop. conv_kernels_test bounds the largest
// error.
//
// Results have the same bits for any number of threads. The sizes alone decide which tiles are
// multiplied together, and sums over tiles are added in a fixed order.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for scratch buffers.
// References: Winograd, "Arithmetic Complexity of Computations" (1980). Lavin and Gray, "Fast
// Algorithms for Convolutional Neural Networks" (2015).
#ifndef SLUICE_OPS_CONV_WINOGRAD_H_
#define SLUICE_OPS_CONV_WINOGRAD_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"

namespace sluice::winograd {

// Whether this machine supports the algorithm for the convolution, and the algorithm is faster than
// the general one (convolve.h).
bool Fits(const WindowGeometry& g);
// Like Fits, for BackpropFilter. Also requires that the sums of BackpropFilter fit into a cache.
bool FitsFilter(const WindowGeometry& g);

// Transforms the filter for Forward. The result, which `allocator` allocates, is valid for images
// of all sizes. Requires Fits.
absl::StatusOr<Tensor> Factors(KernelContext& context, Allocator& allocator,
                               const WindowGeometry& g, const float* filter);
// Computes out = conv(in, filter) from `factors`, the result of Factors for the filter. Requires
// Fits.
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const float* in,
                     const Tensor& factors, float* out);

// Computes filter_grad, the gradient with respect to the filter. Requires FitsFilter.
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const float* in,
                            const float* out_grad, float* filter_grad);

}  // namespace sluice::winograd

#endif  // SLUICE_OPS_CONV_WINOGRAD_H_
