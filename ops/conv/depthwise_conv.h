// Convolutions in which each output channel reads a single input channel: DepthwiseConv2dNative,
// and grouped convolutions with as many groups as channels.
//
// With m output channels per input channel, output channel c * m + q reads input channel c.
//
// The work is split by sizes alone and partial sums are added in order, so that the bits do not
// depend on the number of threads. F is float, double or int32_t, which wraps on overflow. Tensors
// are channels-last.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for partial sums.
#ifndef SLUICE_OPS_CONV_DEPTHWISE_CONV_H_
#define SLUICE_OPS_CONV_DEPTHWISE_CONV_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"

namespace sluice::depthwise_conv {

inline bool Fits(const WindowGeometry& g) { return g.window_channels == 1 && g.has_groups(); }

// Computes out = conv(in, filter).
template <typename F>
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                     F* out);

// Computes in_grad, the gradient with respect to the input, from the gradient of the output.
template <typename F>
absl::Status BackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                           const F* filter, F* in_grad);

// Computes filter_grad, the gradient with respect to the filter.
template <typename F>
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                            const F* out_grad, F* filter_grad);

}  // namespace sluice::depthwise_conv

#endif  // SLUICE_OPS_CONV_DEPTHWISE_CONV_H_
