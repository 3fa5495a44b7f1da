// Shapes of the ops on tensor lists: a list is a scalar variant, and what is known of its elements'
// shape travels with it.
#ifndef SLUICE_OPS_LISTS_LIST_SHAPE_H_
#define SLUICE_OPS_LISTS_LIST_SHAPE_H_

#include "graph/infer/shape_context.h"

namespace sluice::tensor_list {

absl::Status NewListShape(ShapeContext& c);
absl::Status PushBackShape(ShapeContext& c);
absl::Status PopBackShape(ShapeContext& c);
absl::Status ElementShapeShape(ShapeContext& c);
absl::Status SetItemShape(ShapeContext& c);
absl::Status GetItemShape(ShapeContext& c);
absl::Status StackShape(ShapeContext& c);
absl::Status FromTensorShape(ShapeContext& c);
absl::Status GatherShape(ShapeContext& c);
absl::Status ScatterShape(ShapeContext& c);
absl::Status ScatterIntoShape(ShapeContext& c);
absl::Status ConcatShape(ShapeContext& c);
absl::Status SplitShape(ShapeContext& c);
absl::Status ResizeShape(ShapeContext& c);

}  // namespace sluice::tensor_list

#endif  // SLUICE_OPS_LISTS_LIST_SHAPE_H_
