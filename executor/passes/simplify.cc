#include "executor/passes/simplify.h"

#include <algorithm>
#include <cstring>

#include "executor/passes/rewrite.h"
#include "graph/infer/view_sizes.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kLongestChain = 8;
constexpr int64_t kMostElementsCompared = 1 << 16;

std::optional<Bypass> LeadsBackToItsShape(Node* node) {
  Bypass bypass{node->input(0), {node}};
  while (true) {
    const std::optional<ViewSizes> start = SizesOf(bypass.x.shape());
    std::optional<ViewSizes> end = start;
    for (auto it = bypass.passed.rbegin(); it != bypass.passed.rend() && end; ++it) {
      end = (*it)->traits().view_sizes(**it, *end);
    }
    if (end && SameSizes(*start, *end)) return bypass;
    Node* view = bypass.x.node;
    if (!IsView(*view) || bypass.passed.size() == kLongestChain) return std::nullopt;
    bypass.passed.push_back(view);
    bypass.x = view->input(0);
  }
}

// Whether all elements have the bits of `value`: 0 and -0 differ.
template <typename T>
bool IsFullOf(T value, const Tensor& t) {
  const absl::Span<const T> elements = t.flat<T>();
  return std::all_of(elements.begin(), elements.end(), [&](const T& element) {
    return std::memcmp(&element, &value, sizeof(T)) == 0;
  });
}

bool IsFullOf(double value, const Tensor& t) {
  if (t.num_elements() > kMostElementsCompared) return false;
  switch (t.dtype()) {
    case DT_FLOAT:
      return IsFullOf<float>(static_cast<float>(value), t);
    case DT_DOUBLE:
      return IsFullOf<double>(value, t);
    case DT_INT8:
    case DT_UINT8:
      return IsFullOf<uint8_t>(static_cast<uint8_t>(value), t);
    case DT_INT16:
    case DT_UINT16:
      return IsFullOf<uint16_t>(static_cast<uint16_t>(value), t);
    case DT_INT32:
    case DT_UINT32:
      return IsFullOf<uint32_t>(static_cast<uint32_t>(value), t);
    case DT_INT64:
    case DT_UINT64:
      return IsFullOf<uint64_t>(static_cast<uint64_t>(value), t);
    default:
      return false;
  }
}

// Whether x certainly keeps its shape if it is broadcast with a tensor of shape `by`.
bool KeepsShape(const PartialShape& x, const TensorShape& by) {
  if (by.rank() > 0 && x.rank() < by.rank()) return false;
  for (int i = 1; i <= by.rank(); ++i) {
    const int64_t size = by.dim(by.rank() - i);
    if (size != 1 && size != x.dim(x.rank() - i)) return false;
  }
  return true;
}

std::optional<Bypass> TakesNeutral(Node* node, const NeutralElement& neutral) {
  if (!neutral.types.contains(node->output_type(0))) return std::nullopt;
  for (int at = 1; at >= (neutral.on_either_side ? 0 : 1); --at) {
    const Tensor* constant = ConstantBehind(node->input(at));
    const Output x = node->input(1 - at);
    if (constant == nullptr || !KeepsShape(x.shape(), constant->shape())) continue;
    if (IsFullOf(neutral.value, *constant)) return Bypass{x, {node}};
  }
  return std::nullopt;
}

bool HasRule(const OpTraits& traits) {
  return traits.neutral || traits.is_identity != nullptr || traits.undoes != nullptr ||
         traits.view_sizes != nullptr;
}

// The bypass of a node whose result is an existing tensor.
std::optional<Bypass> BypassOf(Node* node) {
  const OpTraits& traits = node->traits();
  if (traits.neutral) return TakesNeutral(node, *traits.neutral);
  if (traits.is_identity != nullptr && traits.is_identity(*node)) {
    return Bypass{node->input(0), {node}};
  }
  if (traits.undoes != nullptr) {
    Node* inner = node->input(0).node;
    const bool undoes = &inner->def() == &node->def() && traits.undoes(*node, *inner);
    return undoes ? std::make_optional(Bypass{inner->input(0), {node, inner}}) : std::nullopt;
  }
  return IsView(*node) ? LeadsBackToItsShape(node) : std::nullopt;
}

Tensor OrderAs(DataType dtype, const std::vector<int64_t>& order) {
  Tensor value(dtype, {static_cast<int64_t>(order.size())});
  if (dtype == DT_INT32) {
    std::copy(order.begin(), order.end(), value.data<int32_t>());
  } else {
    std::copy(order.begin(), order.end(), value.data<int64_t>());
  }
  return value;
}

std::optional<std::vector<int64_t>> OrderOf(const Node& transpose) {
  return ConstantPermutation(transpose.input(1), transpose.input(0).shape().rank());
}

// The order that two Transposes together give the dimensions; `node` is the second one.
std::optional<std::vector<int64_t>> OrderOfBoth(const Node& node) {
  const Node& inner = *node.input(0).node;
  if (inner.op() != node.op()) return std::nullopt;
  std::optional<std::vector<int64_t>> order = OrderOf(node);
  const std::optional<std::vector<int64_t>> first = OrderOf(inner);
  if (!order || !first || order->size() != first->size()) return std::nullopt;
  for (int64_t& d : *order) d = (*first)[d];
  return order;
}

absl::StatusOr<bool> TransposeOnce(Graph& graph, Rewriter& rewriter, Node* node) {
  const std::optional<std::vector<int64_t>> order = OrderOfBoth(*node);
  if (!order || !IsConstant(*node->input(1).node)) return false;
  Node* inner = node->input(0).node;
  SLUICE_ASSIGN_OR_RETURN(const bool shorter,
                          rewriter.Shorten(node, 0, {inner->input(0), {inner}}));
  if (!shorter) return false;
  const Node& like = *node->input(1).node;
  SLUICE_ASSIGN_OR_RETURN(Node* const both,
                          ConstantBeside(graph, like, StrCat(node->name(), "/perm_of_both"),
                                         OrderAs(BaseType(like.output_type(0)), *order)));
  SLUICE_RETURN_IF_ERROR(graph.UpdateInput(node, 1, Output(both)));
  return true;
}

// Whether a Reshape of an empty tensor depends on the shape of the tensor: if there is a 0, the
// size for -1 is computed from the sizes that are not 0.
bool MayLookAtSizes(const Node& reshape, const PartialShape& x) {
  if (x.num_elements() > 0) return false;
  const std::optional<std::vector<int64_t>> wanted = ConstantInts(reshape.input(1));
  const auto has = [&](int64_t n) {
    return std::find(wanted->begin(), wanted->end(), n) != wanted->end();
  };
  return !wanted || (has(0) && has(-1));
}

absl::StatusOr<bool> ReshapeOnce(Rewriter& rewriter, Node* node) {
  Node* inner = node->input(0).node;
  if (!IsView(*inner)) return false;
  const Output x = inner->input(0);
  const std::optional<ViewSizes> sizes = SizesOf(x.shape());
  if (!sizes || !inner->traits().view_sizes(*inner, *sizes) || MayLookAtSizes(*node, x.shape())) {
    return false;
  }
  return rewriter.Shorten(node, 0, {x, {inner}});
}

}  // namespace

absl::StatusOr<int> Simplify(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> order, TopologicalOrder(graph));
  Rewriter rewriter(graph, options.keep);
  int simplified = 0;
  for (Node* node : order) {
    if (!HasRule(node->traits()) || !rewriter.MayChange(*node)) continue;
    bool changed = false;
    if (const std::optional<Bypass> bypass = BypassOf(node)) {
      SLUICE_ASSIGN_OR_RETURN(changed, rewriter.Replace(*bypass));
    }
    if (!changed && node->op() == "Transpose") {
      SLUICE_ASSIGN_OR_RETURN(changed, TransposeOnce(graph, rewriter, node));
    } else if (!changed && node->op() == "Reshape") {
      SLUICE_ASSIGN_OR_RETURN(changed, ReshapeOnce(rewriter, node));
    }
    if (changed) ++simplified;
  }
  return simplified;
}

}  // namespace sluice
