// Convolutions of images to multiples of 16 channels without a matrix of patches: the elements
// under a line of the filter follow each other in an image, so that products read them in place,
// once the image has been copied with its padding.
//
// Used where winograd.h does not fit: strides, few input channels, other filters. The bits do not
// depend on the number of threads: each image is computed by one thread, and sums over images are
// added in order.
//
// Errors: RESOURCE_EXHAUSTED without memory for scratch buffers.
#ifndef SLUICE_OPS_CONV_DIRECT_CONV_H_
#define SLUICE_OPS_CONV_DIRECT_CONV_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"

namespace sluice::direct_conv {

// Whether this machine can compute the convolution this way, and gains by it.
bool Fits(const WindowGeometry& g);

// out = conv(in, filter). Requires Fits.
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const float* in,
                     const float* filter, float* out);

// filter_grad, the gradient with respect to the filter. Requires Fits.
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const float* in,
                            const float* out_grad, float* filter_grad);

}  // namespace sluice::direct_conv

#endif  // SLUICE_OPS_CONV_DIRECT_CONV_H_
