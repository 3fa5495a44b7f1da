// The arithmetic of convolutions: the forward op and both gradients.
//
// The general algorithm multiplies matrices of patches (ops/conv/patches.h), a cache-sized tile at
// a time. winograd.h, direct_conv.h and depthwise_conv.h replace it if they are faster.
//
// The work is split by sizes alone and partial sums are added in order, so that the bits do not
// depend on the number of threads. F is float, double or int32_t. Images are channels-last, filters
// are [depth, height, width, channels of a group, output channels]. Tensors do not overlap.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for scratch buffers.
#ifndef SLUICE_OPS_CONV_CONVOLVE_H_
#define SLUICE_OPS_CONV_CONVOLVE_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/kernel/made_of_constant.h"
#include "ops/conv/window.h"

namespace sluice {

// The filter of a convolution. If the filter is a constant, `made` keeps between calls what kernels
// compute from it, such as packed weights.
struct KeptFilter {
  const Tensor& tensor;
  MadeOfConstant& made;
};

// Computes out = conv(in, filter). If `kept` is not null, `filter` points to the elements of
// kept->tensor, converted to type F.
template <typename F>
absl::Status Convolve(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                      F* out, const KeptFilter* kept = nullptr);

// Computes in_grad, the gradient with respect to the input, from the gradient of the output.
template <typename F>
absl::Status ConvBackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                               const F* filter, F* in_grad);

// Computes filter_grad, the gradient with respect to the filter, from the gradient of the output.
template <typename F>
absl::Status ConvBackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                                const F* out_grad, F* filter_grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONVOLVE_H_
