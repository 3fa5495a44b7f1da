#include "executor/passes/image_batches.h"

namespace sluice {

Output TensorWithShape(Output sizes) {
  const bool is_shape = sizes.node->traits().shape_query == ShapeQuery::kSizes;
  return is_shape ? sizes.node->input(sizes.index) : Output();
}

Output ImageBatches::OriginOf(Output t) const {
  const Output origin = t.index == 0 ? origins_[t.node->id()] : Output();
  return origin ? origin : t;
}

bool ImageBatches::HaveSame(Output a, Output b) const {
  const int64_t of_a = a.shape().rank() > 0 ? a.shape().dim(0) : -1;
  const int64_t of_b = b.shape().rank() > 0 ? b.shape().dim(0) : -1;
  return (of_a >= 0 && of_a == of_b) || OriginOf(a) == OriginOf(b);
}

void ImageBatches::Record(const Node& node, absl::Span<const Output> images) {
  Output& oldest = origins_[node.id()];
  for (const Output& image : images) {
    const Output origin = OriginOf(image);
    if (!oldest || origin.node->id() < oldest.node->id()) oldest = origin;
  }
}

void ImageBatches::RecordFromSizes(const Node& node) {
  const int input = node.traits().shape_input;
  if (input < 0 || !node.input(input)) return;
  if (const Output like = TensorWithShape(node.input(input))) Record(node, {like});
}

}  // namespace sluice
