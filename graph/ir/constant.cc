#include "graph/ir/constant.h"

#include "graph/ir/control_flow.h"

namespace sluice {
namespace {

template <typename T>
std::vector<int64_t> Widen(const Tensor& t) {
  return std::vector<int64_t>(t.flat<T>().begin(), t.flat<T>().end());
}

}  // namespace

const Tensor* ConstantBehind(Output output) {
  constexpr int kLongestWay = 16;
  for (int i = 0; i < kLongestWay && output; ++i) {
    const Node& node = *output.node;
    if (IsConstant(node)) return node.FindAttr<Tensor>("value");
    if (!OnlyPassesOn(node) && !IsConstantEnter(node)) break;
    output = node.input(0);
  }
  return nullptr;
}

std::optional<std::vector<int64_t>> ConstantInts(Output output) {
  const Tensor* t = ConstantBehind(output);
  if (t == nullptr || t->rank() > 1) return std::nullopt;
  if (t->dtype() == DT_INT32) return Widen<int32_t>(*t);
  if (t->dtype() == DT_INT64) return Widen<int64_t>(*t);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> ConstantPermutation(Output output, int rank) {
  std::optional<std::vector<int64_t>> order = ConstantInts(output);
  if (!order || !ConstantBehind(output)->shape().IsVector()) return std::nullopt;
  if (static_cast<int>(order->size()) != rank) return std::nullopt;
  std::vector<bool> seen(rank);
  for (int64_t d : *order) {
    if (d < 0 || d >= rank || seen[d]) return std::nullopt;
    seen[d] = true;
  }
  return order;
}

}  // namespace sluice
