#include "executor/passes/simplify.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "executor/passes/rewrite.h"
#include "executor/passes/view_sizes.h"
#include "graph/ir/constant.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kLongestChain = 8;
constexpr int64_t kMostElementsCompared = 1 << 16;

// The way around a node that makes what is there already.
using Rule = std::optional<Detour> (*)(Node* node);

std::optional<Detour> PassesOn(Node* node) { return Detour{node->input(0), {node}}; }

std::optional<Detour> HasOneInput(Node* node) {
  return node->num_inputs() == 1 ? PassesOn(node) : std::nullopt;
}

std::optional<Detour> CastsToItsType(Node* node) {
  const bool same = BaseType(node->input(0).dtype()) == BaseType(node->output_type(0));
  return same ? PassesOn(node) : std::nullopt;
}

std::optional<Detour> UndoesItself(Node* node) {
  Node* inner = node->input(0).node;
  if (inner->op() != node->op()) return std::nullopt;
  return Detour{inner->input(0), {node, inner}};
}

std::optional<Detour> NegatesTwice(Node* node) {
  constexpr TypeSet kTurnedBitByBit =
      TypeSet{DT_FLOAT, DT_DOUBLE} | SignedIntTypes() | ComplexTypes();
  return kTurnedBitByBit.contains(node->output_type(0)) ? UndoesItself(node) : std::nullopt;
}

// Which dimensions a Reverse or ReverseV2 turns; nothing where that could fail.
std::optional<std::vector<bool>> DimsReversed(const Node& node) {
  constexpr int kMostDims = 8;  // the kernel's limit
  const int rank = node.input(0).shape().rank();
  const Tensor* dims = ConstantBehind(node.input(1));
  if (rank < 0 || rank > kMostDims || dims == nullptr || dims->rank() != 1) return std::nullopt;
  if (dims->dtype() == DT_BOOL) {
    if (dims->dim(0) != rank) return std::nullopt;
    return std::vector<bool>(dims->flat<bool>().begin(), dims->flat<bool>().end());
  }
  std::vector<bool> reversed(rank);
  const std::vector<int64_t> axes = *ConstantInts(node.input(1));
  for (int64_t axis : axes) {
    const int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank || reversed[d]) return std::nullopt;
    reversed[d] = true;
  }
  return reversed;
}

std::optional<Detour> ReversesTwice(Node* node) {
  Node* inner = node->input(0).node;
  if (inner->op() != node->op()) return std::nullopt;
  const std::optional<std::vector<bool>> outer = DimsReversed(*node);
  if (!outer || outer != DimsReversed(*inner)) return std::nullopt;
  return Detour{inner->input(0), {node, inner}};
}

bool KeepsOrder(const std::vector<int64_t>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Of two Transposes, the order that `node` gives the dimensions of the first one's input.
std::optional<std::vector<int64_t>> OrderOfBoth(const Node& node) {
  const Node& inner = *node.input(0).node;
  if (inner.op() != "Transpose") return std::nullopt;
  std::optional<std::vector<int64_t>> order = PermutationOf(node);
  const std::optional<std::vector<int64_t>> first = PermutationOf(inner);
  if (!order || !first || order->size() != first->size()) return std::nullopt;
  for (int64_t& d : *order) d = (*first)[d];
  return order;
}

std::optional<Detour> TransposesBack(Node* node) {
  const std::optional<std::vector<int64_t>> own = PermutationOf(*node);
  if (own && KeepsOrder(*own)) return PassesOn(node);
  const std::optional<std::vector<int64_t>> both = OrderOfBoth(*node);
  return both && KeepsOrder(*both) ? UndoesItself(node) : std::nullopt;
}

std::optional<Detour> LeadsBackToItsShape(Node* node) {
  Detour detour{node->input(0), {node}};
  while (true) {
    const std::optional<ViewSizes> start = SizesOf(detour.x.shape());
    std::optional<ViewSizes> end = start;
    for (auto it = detour.passed.rbegin(); it != detour.passed.rend() && end; ++it) {
      end = SizesAfter(**it, *end);
    }
    if (end && SameSizes(*start, *end)) return detour;
    Node* view = detour.x.node;
    if (!IsView(*view) || detour.passed.size() == kLongestChain) return std::nullopt;
    detour.passed.push_back(view);
    detour.x = view->input(0);
  }
}

std::optional<Detour> BroadcastsToItsShape(Node* node) {
  const PartialShape& x = node->input(0).shape();
  const std::optional<std::vector<int64_t>> wanted = ConstantInts(node->input(1));
  const bool same = wanted && x.IsFullyDefined() && absl::MakeConstSpan(*wanted) == x.dims();
  return same ? PassesOn(node) : std::nullopt;
}

std::optional<Detour> TilesOnce(Node* node) {
  const Tensor* tensor = ConstantBehind(node->input(1));
  const std::optional<std::vector<int64_t>> times = ConstantInts(node->input(1));
  if (!times || !tensor->shape().IsVector()) return std::nullopt;
  const bool fits = tensor->dim(0) == node->input(0).shape().rank();
  const auto is_one = [](int64_t n) { return n == 1; };
  return fits && std::all_of(times->begin(), times->end(), is_one) ? PassesOn(node) : std::nullopt;
}

// The number that leaves x as it is.
struct Neutral {
  double value;
  TypeSet types;
  bool on_either_side = false;
};

const Neutral* NeutralOf(std::string_view op) {
  constexpr TypeSet kFloats = {DT_FLOAT, DT_DOUBLE};
  static const auto* neutral = new std::unordered_map<std::string_view, Neutral>{
      {"Add", {-0.0, kFloats | IntTypes(), true}},
      {"AddV2", {-0.0, kFloats | IntTypes(), true}},
      {"Sub", {0.0, kFloats | IntTypes()}},
      {"Mul", {1.0, kFloats | IntTypes(), true}},
      {"Div", {1.0, kFloats | IntTypes()}},
      {"RealDiv", {1.0, kFloats}},
      {"DivNoNan", {1.0, kFloats}},
      {"FloorDiv", {1.0, IntTypes()}},
      {"TruncateDiv", {1.0, IntTypes()}},
      {"Pow", {1.0, SignedIntTypes()}}};
  const auto it = neutral->find(op);
  return it == neutral->end() ? nullptr : &it->second;
}

// All elements have the bits of `value`: 0 and -0 differ.
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

// Whether x, broadcast with a tensor of shape `by`, keeps its shape for certain.
bool KeepsShape(const PartialShape& x, const TensorShape& by) {
  if (by.rank() > 0 && x.rank() < by.rank()) return false;
  for (int i = 1; i <= by.rank(); ++i) {
    const int64_t size = by.dim(by.rank() - i);
    if (size != 1 && size != x.dim(x.rank() - i)) return false;
  }
  return true;
}

std::optional<Detour> TakesNeutral(Node* node) {
  const Neutral& neutral = *NeutralOf(node->op());
  if (!neutral.types.contains(node->output_type(0))) return std::nullopt;
  for (int at = 1; at >= (neutral.on_either_side ? 0 : 1); --at) {
    const Tensor* constant = ConstantBehind(node->input(at));
    const Output x = node->input(1 - at);
    if (constant == nullptr || !KeepsShape(x.shape(), constant->shape())) continue;
    if (IsFullOf(neutral.value, *constant)) return Detour{x, {node}};
  }
  return std::nullopt;
}

const Rule* RuleOf(std::string_view op) {
  static const auto* rules = new std::unordered_map<std::string_view, Rule>{
      {"AccumulateNV2", HasOneInput},
      {"AddN", HasOneInput},
      {"BroadcastTo", BroadcastsToItsShape},
      {"Cast", CastsToItsType},
      {"Conj", UndoesItself},
      {"ExpandDims", LeadsBackToItsShape},
      {"Identity", PassesOn},
      {"Invert", UndoesItself},
      {"LogicalNot", UndoesItself},
      {"Neg", NegatesTwice},
      {"Reshape", LeadsBackToItsShape},
      {"Reverse", ReversesTwice},
      {"ReverseV2", ReversesTwice},
      {"Squeeze", LeadsBackToItsShape},
      {"StopGradient", PassesOn},
      {"Tile", TilesOnce},
      {"Transpose", TransposesBack},
  };
  static const Rule takes_neutral = TakesNeutral;
  if (NeutralOf(op) != nullptr) return &takes_neutral;
  const auto it = rules->find(op);
  return it == rules->end() ? nullptr : &it->second;
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

absl::StatusOr<bool> TransposeOnce(Graph& graph, Rewriter& rewriter, Node* node) {
  const std::optional<std::vector<int64_t>> order = OrderOfBoth(*node);
  if (!order || node->input(1).node->op() != "Const") return false;
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

// Whether a Reshape of an empty tensor depends on how that is shaped: beside a 0, a size of -1 is
// found by the sizes that are not 0.
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
  if (!sizes || !SizesAfter(*inner, *sizes) || MayLookAtSizes(*node, x.shape())) return false;
  return rewriter.Shorten(node, 0, {x, {inner}});
}

}  // namespace

absl::StatusOr<int> Simplify(Graph& graph, const PassOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> order, TopologicalOrder(graph));
  Rewriter rewriter(graph, options.keep);
  int simplified = 0;
  for (Node* node : order) {
    const Rule* rule = RuleOf(node->op());
    if (rule == nullptr || !rewriter.MayChange(*node)) continue;
    bool changed = false;
    if (const std::optional<Detour> detour = (*rule)(node)) {
      SLUICE_ASSIGN_OR_RETURN(changed, rewriter.Replace(*detour));
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
