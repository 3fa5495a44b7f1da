// Computes convolutions whose number of output channels is a multiple of 16, without a matrix of
// patches. Each image is copied with its padding. Then the pixels under one line of the filter are
// contiguous, and matrix products read them in place.
//
// The algorithm is used for convolutions that winograd.h does not support: with strides, few input
// channels or other filter sizes. Results have the same bits for any number of threads: one thread
// computes each image, and sums over images are added in a fixed order.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for scratch buffers.
#ifndef SLUICE_OPS_CONV_DIRECT_CONV_H_
#define SLUICE_OPS_CONV_DIRECT_CONV_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"

namespace sluice::direct_conv {

// Whether this machine supports the algorithm for the convolution, and the algorithm is faster than
// the general one (convolve.h).
bool Fits(const WindowGeometry& g);

// Computes out = conv(in, filter). Requires Fits.
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const float* in,
                     const float* filter, float* out);

// Computes filter_grad, the gradient with respect to the filter. Requires Fits.
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const float* in,
                            const float* out_grad, float* filter_grad);

}  // namespace sluice::direct_conv

#endif  // SLUICE_OPS_CONV_DIRECT_CONV_H_
