// The arithmetic of convolutions over volumes, as matrix products over patches: each output
// position is a row of the elements under the filter, gathered a cache-sized tile at a time.
//
// Work is split by sizes alone and partial sums are added in order, so that the bits do not depend
// on the number of threads. F is float, double or int32_t. Tensors are [batch, depth, height,
// width, channels] and [depth, height, width, channels, outputs], without overlap.
#ifndef SLUICE_OPS_CONV_CONV3D_COMPUTE_H_
#define SLUICE_OPS_CONV_CONV3D_COMPUTE_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "ops/conv/volume_geometry.h"

namespace sluice {

// out = conv(in, filter).
template <typename F>
absl::Status Convolve(KernelContext& context, const VolumeGeometry& g, const F* in, const F* filter,
                      F* out);

// in_grad, of the input's shape, from the gradient of the output.
template <typename F>
absl::Status ConvolveByInput(KernelContext& context, const VolumeGeometry& g, const F* out_grad,
                             const F* filter, F* in_grad);

// filter_grad, of the filter's shape, from the gradient of the output.
template <typename F>
absl::Status ConvolveByFilter(KernelContext& context, const VolumeGeometry& g, const F* in,
                              const F* out_grad, F* filter_grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV3D_COMPUTE_H_
