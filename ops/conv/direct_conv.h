// Convolutions of images to multiples of 16 channels, without a matrix of patches: the elements
// under a line of the filter follow each other in an image, so products read them where they lie,
// once the image has its padding around it.
//
// For what winograd.h does not do: strides, few input channels, other filters. Any number of
// threads gives the same bits: an image is one thread's, and sums over images are made in order.
#ifndef SLUICE_OPS_CONV_DIRECT_CONV_H_
#define SLUICE_OPS_CONV_DIRECT_CONV_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/conv_geometry.h"

namespace sluice::direct_conv {

// Whether the convolution can be made this way, on this machine, and is worth it.
bool Fits(const ConvGeometry& g);

// out = conv(in, filter), where Fits.
absl::Status Forward(KernelContext& context, const ConvGeometry& g, const float* in,
                     const float* filter, float* out);

// filter_grad from the gradient of the output, where Fits.
absl::Status ByFilter(KernelContext& context, const ConvGeometry& g, const float* in,
                      const float* out_grad, float* filter_grad);

}  // namespace sluice::direct_conv

#endif  // SLUICE_OPS_CONV_DIRECT_CONV_H_
