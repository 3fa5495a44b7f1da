// Convolutions in which each output channel reads a single input channel: DepthwiseConv2dNative,
// and grouped convolutions with as many groups as channels.
//
// If there are m output channels per input channel, output channels c * m to c * m + m - 1 read
// input channel c.
//
// The sizes alone decide how the work is split, and partial sums are added in a fixed order. So
// results have the same bits for any number of threads. F is float, double or int32_t, which wraps
// on overflow. Tensors are channels-last.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for partial sums.
#ifndef SLUICE_OPS_CONV_DEPTHWISE_CONV_H_
#define SLUICE_OPS_CONV_DEPTHWISE_CONV_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"

namespace sluice::depthwise_conv {

// Whether each output channel reads a single one of several input channels. The other functions
// require this.
inline bool Fits(const WindowGeometry& g) { return g.window_channels == 1 && g.has_groups(); }

// Computes out = conv(in, filter).
template <typename F>
absl::Status Forward(KernelContext& context, const WindowGeometry& g, const F* in, const F* filter,
                     F* out);

// Computes in_grad, the gradient with respect to the input, from out_grad, the gradient with
// respect to the output.
template <typename F>
absl::Status BackpropInput(KernelContext& context, const WindowGeometry& g, const F* out_grad,
                           const F* filter, F* in_grad);

// Computes filter_grad, the gradient with respect to the filter.
template <typename F>
absl::Status BackpropFilter(KernelContext& context, const WindowGeometry& g, const F* in,
                            const F* out_grad, F* filter_grad);

}  // namespace sluice::depthwise_conv

#endif  // SLUICE_OPS_CONV_DEPTHWISE_CONV_H_
