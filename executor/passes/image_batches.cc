#include "executor/passes/image_batches.h"

#include <string_view>
#include <unordered_map>

namespace sluice {
namespace {

// The input that says what sizes output 0 has; -1 of other nodes.
int SizesInputOf(std::string_view op) {
  static const auto* inputs = new std::unordered_map<std::string_view, int>{
      {"BroadcastTo", 1},        {"Fill", 0},    {"RandomStandardNormal", 0},
      {"RandomUniform", 0},      {"Reshape", 1}, {"TruncatedNormal", 0},
      {"Conv2DBackpropInput", 0}};
  const auto it = inputs->find(op);
  return it == inputs->end() ? -1 : it->second;
}

}  // namespace

Output ShapedLike(Output sizes) {
  const std::string& op = sizes.node->op();
  const bool is_shape = op == "Shape" || op == "ShapeN";
  return is_shape ? sizes.node->input(sizes.index) : Output();
}

Output ImageBatches::OriginOf(Output t) const {
  const Output origin = t.index == 0 ? origins_[t.node->id()] : Output();
  return origin ? origin : t;
}

bool ImageBatches::Same(Output a, Output b) const {
  const int64_t of_a = a.shape().rank() > 0 ? a.shape().dim(0) : -1;
  const int64_t of_b = b.shape().rank() > 0 ? b.shape().dim(0) : -1;
  return (of_a >= 0 && of_a == of_b) || OriginOf(a) == OriginOf(b);
}

void ImageBatches::Say(const Node& node, absl::Span<const Output> images) {
  Output& oldest = origins_[node.id()];
  for (const Output& image : images) {
    const Output origin = OriginOf(image);
    if (!oldest || origin.node->id() < oldest.node->id()) oldest = origin;
  }
}

void ImageBatches::SayBySizes(const Node& node) {
  const int input = SizesInputOf(node.op());
  if (input < 0 || !node.input(input)) return;
  if (const Output like = ShapedLike(node.input(input))) Say(node, {like});
}

}  // namespace sluice
