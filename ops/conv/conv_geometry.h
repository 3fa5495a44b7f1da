// The sizes of one convolution, and the checks that its tensors fit each other.
//
// All loops over images use this order: batch, height, width, channels.
#ifndef SLUICE_OPS_CONV_CONV_GEOMETRY_H_
#define SLUICE_OPS_CONV_CONV_GEOMETRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "graph/tensor/shape.h"
#include "ops/conv/window.h"

namespace sluice {

struct ConvGeometry {
  int64_t batch = 0;
  int64_t in_height = 0, in_width = 0, in_channels = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0;
  int64_t filter_height = 0, filter_width = 0, filter_channels = 0;  // channels of one group
  int64_t groups = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t pad_top = 0, pad_left = 0;

  // Output positions, and the elements of one patch under a filter of one group.
  int64_t positions() const { return batch * out_height * out_width; }
  int64_t patch() const { return filter_height * filter_width * filter_channels; }
  int64_t group_outputs() const { return out_channels / groups; }
  // A patch is one element of the input: nothing to gather.
  bool is_pointwise() const {
    return filter_height == 1 && filter_width == 1 && groups == 1 && stride_height == 1 &&
           stride_width == 1 && pad_top == 0 && pad_left == 0 && out_height == in_height &&
           out_width == in_width;
  }
};

// The attributes of a convolution's node.
struct ConvAttrs {
  std::string op;
  std::string data_format;
  ImageSliding sliding;
  ImageLayout layout;

  // UNIMPLEMENTED (Conv2D) or INVALID_ARGUMENT for strides and dilations over batch and channels.
  static absl::StatusOr<ConvAttrs> Of(const KernelInit& init);
};

absl::StatusOr<ConvGeometry> ConvGeometryOf(const ConvAttrs& attrs, const TensorShape& input,
                                            const TensorShape& filter);

// The same, and that `grad` has the output's shape.
absl::StatusOr<ConvGeometry> ConvGeometryOf(const ConvAttrs& attrs, const TensorShape& input,
                                            const TensorShape& filter, const TensorShape& grad);

// The output's shape in the layout of the node. INVALID_ARGUMENT where paddings make it too large.
absl::StatusOr<TensorShape> ConvOutputShape(const ConvAttrs& attrs, const ConvGeometry& geometry);

// Four sizes from an int32 vector; where it has two, height and width, the others are batch and
// channels.
absl::StatusOr<TensorShape> ImageSizes(const ConvAttrs& attrs, const Tensor& sizes, int64_t batch,
                                       int64_t channels);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV_GEOMETRY_H_
