// Shape functions of pools over images and volumes, and the roles of their images (ImageRoles in
// graph/infer/image_roles.h). The attribute data_format (NHWC if the op has none) determines the
// number of dimensions.
#ifndef SLUICE_OPS_POOL_POOL_SHAPE_H_
#define SLUICE_OPS_POOL_POOL_SHAPE_H_

#include "graph/infer/image_roles.h"
#include "graph/infer/shape_context.h"

namespace sluice {

// The output shape of a pool of input 0 with the windows that the attributes describe.
absl::StatusOr<PartialShape> PooledShape(ShapeContext& c);
absl::Status PoolShape(ShapeContext& c);
// Like PoolShape, for quantized images: inputs 1 and 2 are the minimum and maximum of the input's
// range, outputs 1 and 2 those of the output's.
absl::Status QuantizedPoolShape(ShapeContext& c);
// Like PoolShape, but ksize is input `first`, and strides is the next input.
absl::Status PoolShapeOfInputs(ShapeContext& c, int first);
// For ops whose output has the shape of input 0, a tensor of images.
absl::Status ImagesOfInput(ShapeContext& c);
// For ops whose output has the shape that input 0 contains, such as the gradient of AvgPool.
absl::Status ImagesOfSizes(ShapeContext& c);

// The arguments and attributes of a pool of quantized images.
void QuantizedPool(OpDefBuilder& b);

// Whether the attributes of `node` describe a pool of images `in` to images `out`, both with
// channels first.
bool Pools(const Node& node, const PartialShape& in, const PartialShape& out);
// The roles of the images of a pool of input 0. Empty unless Pools is true for the node's input and
// output.
std::optional<ImageRoles> ImagesOfPool(const Node& node);

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_SHAPE_H_
