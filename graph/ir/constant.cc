#include "graph/ir/constant.h"

namespace sluice {

const Tensor* ConstantBehind(Output output) {
  constexpr int kLongestWay = 16;
  for (int i = 0; i < kLongestWay && output; ++i) {
    const Node& node = *output.node;
    if (node.op() == "Const") return node.FindAttr<Tensor>("value");
    const bool is_invariant = node.op() == "Enter" && node.AttrOr<bool>("is_constant", false);
    if (node.op() != "Identity" && !is_invariant) break;
    output = node.input(0);
  }
  return nullptr;
}

}  // namespace sluice
