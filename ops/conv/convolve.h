// The arithmetic of convolutions: the forward op and both gradients.
//
// The general algorithm multiplies matrices of patches (ops/conv/patches.h), a cache-sized tile at
// a time. winograd.h, direct_conv.h and depthwise_conv.h replace it if they are faster.
//
// The sizes alone decide how the work is split, and partial sums are added in a fixed order. So
// results have the same bits for any number of threads. F is float, double or int32_t. Images are
// channels-last, filters are [depth, height, width, channels of a group, output channels]. Tensors
// do not overlap.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for scratch buffers.
#ifndef SLUICE_OPS_CONV_CONVOLVE_H_
#define SLUICE_OPS_CONV_CONVOLVE_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/kernel/made_of_constant.h"
#include "ops/conv/window.h"

namespace sluice {

// The filter of a convolution. If the filter is a constant, `made` keeps what kernels compute from
// it, such as a transformed filter, so that later calls need not compute this again.
struct KeptFilter {
  const Tensor& tensor;
  MadeOfConstant& made;
};

// Computes out = conv(in, filter). If `kept` is not null, `filter` points to the elements of
// kept->tensor, converted to type F. If it is null, nothing is kept for later calls.
template <typename F>
absl::Status Convolve(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                      F* out, const KeptFilter* kept = nullptr);

// Computes in_grad, the gradient with respect to the input, from out_grad, the gradient with
// respect to the output.
template <typename F>
absl::Status ConvBackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                               const F* filter, F* in_grad);

// Computes filter_grad, the gradient with respect to the filter, from out_grad, the gradient with
// respect to the output.
template <typename F>
absl::Status ConvBackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                                const F* out_grad, F* filter_grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONVOLVE_H_
