// Shape functions of pools over images and volumes. The attribute data_format, NHWC if the op has
// none, tells the number of dimensions.
#ifndef SLUICE_OPS_POOL_POOL_SHAPE_H_
#define SLUICE_OPS_POOL_POOL_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice {

// A pool of input 0, described by attributes.
absl::StatusOr<PartialShape> PooledShape(ShapeContext& c);
absl::Status PoolShape(ShapeContext& c);
// The same, with ksize in input `first` and strides in the next.
absl::Status PoolShapeOfInputs(ShapeContext& c, int first);
// The shape of input 0, images.
absl::Status ImagesOfInput(ShapeContext& c);
// The value of input 0, the shape of images.
absl::Status ImagesOfSizes(ShapeContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_SHAPE_H_
