// The geometry of one convolution, computed from the shapes of its tensors. Shape functions use it
// with unknown sizes, and kernels with known ones.
//
// Filters are [spatial dimensions, input channels, output channels] for all data formats.
//
// Errors: INVALID_ARGUMENT if the tensors do not fit each other.
#ifndef SLUICE_OPS_CONV_CONV_GEOMETRY_H_
#define SLUICE_OPS_CONV_CONV_GEOMETRY_H_

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "ops/conv/window.h"

namespace sluice {

// The input channels that each filter of an op reads.
enum class FilterKind {
  kGrouped,  // the channels of one group, which may be all channels
  kWhole,    // all channels
  // one channel: filters are [..., channels, m], and output channels c * m to c * m + m - 1 read
  // channel c
  kDepthwise,
};
// The kind of the filters of the convolution op named `op`.
FilterKind FilterKindOf(std::string_view op);

// The output's shape. `images` and `filter` must have the rank of attrs.layout.
absl::StatusOr<PartialShape> ConvolvedShape(const WindowAttrs& attrs, const PartialShape& images,
                                            const PartialShape& filter);

// Returns the sizes that the kernel of a convolution needs. `input` is the shape of the images, and
// `filter` that of the filter.
absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter);

// Returns the same sizes for the kernel of a gradient of a convolution. INVALID_ARGUMENT unless
// `grad`, the shape of the gradient with respect to the output, is the output's shape.
absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter, const TensorShape& grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV_GEOMETRY_H_
