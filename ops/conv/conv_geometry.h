// The geometry of one convolution, from the shapes of its tensors: for shape functions, where sizes
// may be unknown, and for kernels.
//
// Filters are [spatial dimensions, input channels, output channels], whatever the data format.
//
// Errors: INVALID_ARGUMENT if the tensors do not fit each other.
#ifndef SLUICE_OPS_CONV_CONV_GEOMETRY_H_
#define SLUICE_OPS_CONV_CONV_GEOMETRY_H_

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "ops/conv/window.h"

namespace sluice {

// Which input channels the filters of an op read.
enum class FilterKind {
  kGrouped,    // an equal part each: all of them, or those of a group
  kWhole,      // all of them
  kDepthwise,  // one: filters are [.., channels, m], output channel c * m + q reads channel c
};
FilterKind FilterKindOf(std::string_view op);

// The output's shape. Both arguments have the layout's rank.
absl::StatusOr<PartialShape> ConvolvedShape(const WindowAttrs& attrs, const PartialShape& images,
                                            const PartialShape& filter);

absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter);

// The same, and checks that `grad` has the output's shape.
absl::StatusOr<WindowGeometry> ConvGeometryOf(const WindowAttrs& attrs, const TensorShape& input,
                                              const TensorShape& filter, const TensorShape& grad);

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV_GEOMETRY_H_
