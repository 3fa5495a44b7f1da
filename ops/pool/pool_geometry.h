// Computes the windows of one pool, and checks that its tensors fit.
//
// Errors: INVALID_ARGUMENT if sizes do not fit; UNIMPLEMENTED if windows extend over the batch, or
// over the channels in a way that the op does not support.
#ifndef SLUICE_OPS_POOL_POOL_GEOMETRY_H_
#define SLUICE_OPS_POOL_POOL_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/conv/window.h"
#include "ops/loops/image_tensor.h"

namespace sluice {

struct Pool {
  // If window_channels > 1, windows extend over channels and not over space.
  WindowGeometry g;
  TensorShape pooled;  // shape of the output in the node's data format
};

// The attributes of a pool's node. ksize and strides may be inputs instead (MaxPoolV2).
//
// Thread safety: immutable.
class PoolAttrs {
 public:
  explicit PoolAttrs(const KernelInit& init);

  // Returns the pool over images of this shape. If ksize and strides are inputs and not attributes,
  // they are inputs `first_size` and `first_size` + 1.
  absl::StatusOr<Pool> Of(KernelContext& context, const TensorShape& images, int first_size) const;
  Channels channels() const { return ChannelsOf(layout_); }
  int rank() const { return layout_.rank(); }

 private:
  const ImageLayout layout_;
  const std::vector<int64_t> ksize_;
  absl::StatusOr<WindowAttrs> attrs_;  // not used if the sizes are inputs
};

// INVALID_ARGUMENT unless `t` has the expected shape. The message calls `t` by the name `what`.
absl::Status CheckShape(const char* what, const Tensor& t, const TensorShape& expected);

// Copies the minimum and maximum of the range of quantized images, inputs 1 and 2, to outputs 1 and
// 2. INVALID_ARGUMENT unless each has one element.
absl::Status CopyRange(KernelContext& context);

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_GEOMETRY_H_
