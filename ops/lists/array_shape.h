// Shapes of the ops on TensorArrays. What is known of the elements travels with the handle.
#ifndef SLUICE_OPS_LISTS_ARRAY_SHAPE_H_
#define SLUICE_OPS_LISTS_ARRAY_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice {

absl::Status TensorArrayShape(ShapeContext& c);
absl::Status TensorArrayGradShape(ShapeContext& c);
absl::Status TensorArrayWriteShape(ShapeContext& c);
absl::Status TensorArrayReadShape(ShapeContext& c);
absl::Status TensorArrayGatherShape(ShapeContext& c);
absl::Status TensorArrayScatterShape(ShapeContext& c);
absl::Status TensorArrayConcatShape(ShapeContext& c);
absl::Status TensorArraySplitShape(ShapeContext& c);
absl::Status TensorArraySizeShape(ShapeContext& c);
absl::Status TensorArrayCloseShape(ShapeContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_LISTS_ARRAY_SHAPE_H_
