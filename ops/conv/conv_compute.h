// The arithmetic of convolutions, as matrix products over patches: each output position is a row
// of the elements under the filter, gathered a cache-sized tile at a time.
//
// Work is split into tiles and blocks that depend on sizes alone, and partial sums are added in
// order, so that the bits do not depend on the number of threads.
//
// F is float, double or int32_t. Tensors are [batch, height, width, channels] and [filter height,
// filter width, channels, outputs], without overlap.
#ifndef SLUICE_OPS_CONV_CONV_COMPUTE_H_
#define SLUICE_OPS_CONV_CONV_COMPUTE_H_

#include "absl/status/status.h"
#include "executor/kernel/context.h"
#include "executor/kernel/made_of_constant.h"
#include "ops/conv/conv_geometry.h"

namespace sluice {

// The filter as a kernel has it, and what is kept of it over calls where it is a constant.
struct KeptFilter {
  const Tensor& tensor;
  MadeOfConstant& made;
};

// out = conv(in, filter). `filter` are the elements of `kept`, if there is one, as type F.
template <typename F>
absl::Status ConvForward(KernelContext& context, const ConvGeometry& g, const F* in,
                         const F* filter, F* out, const KeptFilter* kept = nullptr);

// in_grad, of the input's shape, from the gradient of the output.
template <typename F>
absl::Status ConvByInput(KernelContext& context, const ConvGeometry& g, const F* out_grad,
                         const F* filter, F* in_grad);

// filter_grad, of the filter's shape, from the gradient of the output.
template <typename F>
absl::Status ConvByFilter(KernelContext& context, const ConvGeometry& g, const F* in,
                          const F* out_grad, F* filter_grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV_COMPUTE_H_
