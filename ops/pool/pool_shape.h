// Shape functions of pools over images and volumes, and the function that says which inputs of a
// pool are images (ImageRoles in graph/infer/image_roles.h). The attribute data_format (NHWC if the
// op has none) determines the number of dimensions.
#ifndef SLUICE_OPS_POOL_POOL_SHAPE_H_
#define SLUICE_OPS_POOL_POOL_SHAPE_H_

#include "graph/infer/image_roles.h"
#include "graph/infer/shape_context.h"

namespace sluice {

// PooledShape returns the output shape of a pool of input 0 with the windows that the attributes
// describe. PoolShape is the shape function that sets output 0 to this shape.
absl::StatusOr<PartialShape> PooledShape(ShapeContext& c);
absl::Status PoolShape(ShapeContext& c);
// Like PoolShape, for quantized images: inputs 1 and 2 are the minimum and maximum of the input's
// range, outputs 1 and 2 those of the output's range.
absl::Status QuantizedPoolShape(ShapeContext& c);
// Like PoolShape, but ksize is input `first`, and strides is the next input.
absl::Status PoolShapeOfInputs(ShapeContext& c, int first);
// Shape function of ops whose output has the shape of input 0, a tensor of images.
absl::Status ImagesOfInput(ShapeContext& c);
// Shape function of ops whose input 0 is a vector with the sizes of the output, such as the
// gradient of AvgPool.
absl::Status ImagesOfSizes(ShapeContext& c);

// Declares the arguments and attributes of a pool of quantized images. An argument of
// OpDefBuilder::With.
void QuantizedPool(OpDefBuilder& b);

// Whether `in` and `out` are shapes of images with channels first (IsImage), and the attributes of
// `node` describe a pool that makes `out` from `in`.
bool Pools(const Node& node, const PartialShape& in, const PartialShape& out);
// An OpTraits::image_roles for ops that pool input 0, their only input that is an image. Returns
// nullopt unless Pools(node, shape of input 0, shape of output 0) is true.
std::optional<ImageRoles> ImagesOfPool(const Node& node);

}  // namespace sluice

#endif  // SLUICE_OPS_POOL_POOL_SHAPE_H_
