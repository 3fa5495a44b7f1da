#include "executor/fusion/fusible.h"

#include <algorithm>
#include <array>
#include <optional>

#include "graph/ir/constant.h"
#include "graph/ir/graph.h"

namespace sluice {

bool IsCompatible(const PartialShape& operand, const PartialShape& result) {
  const bool is_scalar = operand.rank_known() && operand.rank() == 0;
  return is_scalar || operand.IsCompatibleWith(result);
}

namespace {

constexpr int64_t kMostRepeated = 1 << 16;  // elements; larger parts do not stay in a cache
constexpr int64_t kLeastInARow = 16;        // elements; fewer are not worth a call of a loop

bool IsKernelOfOneOutput(const DraftItem& item) {
  return item.kind == OpKind::kKernel && item.output_types.size() == 1;
}

// Whether the operand has the last dimensions of the result and is repeated over the others.
bool IsRepeatedIn(const PartialShape& operand, const PartialShape& result) {
  if (!operand.rank_known() || !result.rank_known() || operand.rank() > result.rank()) return false;
  const int more = result.rank() - operand.rank();
  int first = 0;
  while (first < operand.rank() && operand.dim(first) == 1) ++first;
  if (first == operand.rank()) return false;
  bool is_repeated = false;
  for (int i = 0; i < first + more; ++i) is_repeated |= result.dim(i) != 1;
  int64_t elements = 1;
  for (int i = first; i < operand.rank(); ++i) {
    if (operand.dim(i) == PartialShape::kUnknown || operand.dim(i) != result.dim(i + more)) {
      return false;
    }
    if (operand.dim(i) > kMostRepeated / std::max<int64_t>(elements, 1)) return false;
    elements *= operand.dim(i);
  }
  return is_repeated && elements > 0;
}

// Whether the operand has one element per row of the result.
bool IsColumnOf(const PartialShape& operand, const PartialShape& result) {
  if (!operand.rank_known() || !result.rank_known() || result.rank() < 2) return false;
  return result.dim(result.rank() - 1) >= kLeastInARow &&
         HasOneElementARow(operand.dims(), result.dims());
}

// The broadcast kind of operand k of an elementwise node. Nullopt if a group cannot compute it.
std::optional<BroadcastKind> KindOf(const Node& node, int k) {
  const PartialShape &shape = node.input(k).shape(), &result = node.output_shape(0);
  const bool may_be_part = node.num_inputs() == 2;
  if (may_be_part && IsRepeatedIn(shape, result)) return BroadcastKind::kRow;
  if (may_be_part && IsColumnOf(shape, result)) return BroadcastKind::kColumn;
  return IsCompatible(shape, result) ? std::optional(BroadcastKind::kWhole) : std::nullopt;
}

// The broadcast kinds of an elementwise node's operands, from known shapes. Nullopt if a group
// cannot compute the node.
std::optional<std::array<BroadcastKind, 2>> OperandsOf(const Node& node) {
  std::array<BroadcastKind, 2> broadcast = {BroadcastKind::kWhole, BroadcastKind::kWhole};
  const PartialShape& result = node.output_shape(0);
  bool has_part = false;
  for (int k = 0; k < node.num_inputs() && k < 2; ++k) {
    const std::optional<BroadcastKind> kind = KindOf(node, k);
    if (!kind) return std::nullopt;
    broadcast[k] = *kind;
    has_part |= broadcast[k] != BroadcastKind::kWhole;
  }
  if (!has_part) return broadcast;
  if (broadcast[0] == broadcast[1]) return std::nullopt;
  for (int k = 0; k < 2; ++k) {  // the other operand must have the result's shape
    const PartialShape& shape = node.input(k).shape();
    const bool is_full = shape.rank_known() && shape.rank() == result.rank();
    if (broadcast[k] == BroadcastKind::kWhole && !is_full) return std::nullopt;
  }
  return broadcast;
}

bool HasOperandsOf(const ElementwiseLoops& loops, const DraftItem& item) {
  const size_t operands = loops.one != nullptr ? 1 : 2;
  if (item.inputs.size() != operands) return false;
  for (size_t i = 0; i < operands; ++i) {
    if (item.inputs[i].is_ref) return false;
    if (DataTypeSize(item.node->input_type(static_cast<int>(i))) != loops.in_size) return false;
  }
  return true;
}

bool CanBroadcast(const ElementwiseLoops& loops, const std::array<BroadcastKind, 2>& kinds) {
  if (loops.y_is_row) return kinds[1] == BroadcastKind::kRow;
  const bool has_part = kinds[0] != BroadcastKind::kWhole || kinds[1] != BroadcastKind::kWhole;
  return !has_part || loops.x_alone != nullptr;
}

// The item's kernel if it only runs its loops and if, by the known shapes, at most one operand
// broadcasts: it is repeated over the first dimensions (a bias) or has one element per row (a
// mean). Null for other items. Sets the broadcast kinds of the operands.
ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item,
                                    std::array<BroadcastKind, 2>* broadcast) {
  if (!IsKernelOfOneOutput(item)) return nullptr;
  auto* kernel = dynamic_cast<ElementwiseLoopKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->IsLoopsAlone()) return nullptr;
  if (!HasOperandsOf(kernel->loops(), item)) return nullptr;
  // A tile cannot hold objects.
  if (DataTypeSize(item.output_types[0]) != kernel->loops().out_size) return nullptr;
  const Node& node = *item.node;
  const std::optional<std::array<BroadcastKind, 2>> found = OperandsOf(node);
  if (!found.has_value()) return nullptr;
  *broadcast = *found;
  return CanBroadcast(kernel->loops(), *broadcast) ? kernel : nullptr;
}

// Whether the rows of a tensor have a size that a group can compute row by row.
bool HasFittingRows(const PartialShape& shape, DataType type) {
  if (!shape.rank_known() || shape.rank() == 0) return false;
  const int64_t row = shape.dim(shape.rank() - 1);  // -1 if unknown
  if (row < kLeastInARow || row > FusedElementwise::kMostInARow) return false;
  return static_cast<size_t>(row) * DataTypeSize(type) <= FusedElementwise::kRegisterBytes;
}

// Whether `axes` is a constant that names the last axis alone.
bool IsLastAxis(const Output& axes, int rank) {
  const Tensor* const value = ConstantBehind(axes);
  if (value == nullptr || value->num_elements() != 1) return false;
  const int64_t axis =
      value->dtype() == DT_INT32 ? value->data<int32_t>()[0] : value->data<int64_t>()[0];
  return axis == -1 || axis == rank - 1;
}

// The item's kernel if, by the known shapes, it maps rows of input 0. Null for other items.
const RowKernel* RowKernelOf(const DraftItem& item) {
  if (!IsKernelOfOneOutput(item)) return nullptr;
  const auto* kernel = dynamic_cast<const RowKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->CanMakeRows()) return nullptr;
  const size_t inputs = kernel->IsReduction() ? 2 : 1;
  if (item.inputs.size() != inputs || item.inputs[0].is_ref) return nullptr;
  const PartialShape& shape = item.node->input(0).shape();
  if (!HasFittingRows(shape, item.node->input_type(0))) return nullptr;
  if (!kernel->IsReduction()) return kernel;
  return IsLastAxis(item.node->input(1), shape.rank()) ? kernel : nullptr;
}

// Whether the item spreads one element over each row of its result.
bool SpreadsColumn(const DraftItem& item) {
  const Node& node = *item.node;
  const PartialShape& x = node.input(0).shape();
  const PartialShape& result = node.output_shape(0);
  // A value that is fed instead of a constant may contradict the result's shape.
  if (item.inputs[0].is_ref || ConstantBehind(node.input(1)) == nullptr) return false;
  return x.IsFullyDefined() && result.IsFullyDefined() && IsColumnOf(x, result);
}

// Whether the item has several operands, as many as a group can have, of the result's shape.
bool HasCompatibleOperands(const DraftItem& item) {
  const Node& node = *item.node;
  const size_t operands = item.inputs.size();
  // accumulate_sums may have added an input.
  if (operands != static_cast<size_t>(node.num_inputs())) return false;
  if (operands < 2 || operands > FusedElementwise::kMostOperands) return false;
  for (size_t k = 0; k < operands; ++k) {
    if (item.inputs[k].is_ref) return false;
    if (!IsCompatible(node.input(k).shape(), node.output_shape(0))) return false;
  }
  return true;
}

// The loops that a kernel runs only in groups (GroupLoops). Null for other items.
const ElementwiseLoops* GroupLoopsOf(const DraftItem& item,
                                     absl::InlinedVector<BroadcastKind, 2>* broadcast) {
  if (!IsKernelOfOneOutput(item)) return nullptr;
  const auto* member = dynamic_cast<const GroupLoops*>(item.kernel);
  const ElementwiseLoops* const loops = member != nullptr ? member->LoopsInGroup() : nullptr;
  if (loops == nullptr || DataTypeSize(item.output_types[0]) != loops->out_size) return nullptr;
  if (loops->spreads) {
    *broadcast = {BroadcastKind::kColumn, BroadcastKind::kAxes};
    return SpreadsColumn(item) ? loops : nullptr;
  }
  if (!HasCompatibleOperands(item)) return nullptr;
  broadcast->assign(item.inputs.size(), BroadcastKind::kWhole);
  return loops;
}

}  // namespace

void MarkScalarLoops(DraftBody& body) {
  for (DraftItem& item : body.items) {
    std::array<BroadcastKind, 2> broadcast;
    item.is_scalar_loop = LoopKernelOf(item, &broadcast) != nullptr &&
                          item.node->output_shape(0).IsCompatibleWith(PartialShape::Scalar());
  }
}

Membership MembershipOf(const DraftItem& item) {
  Membership member;
  std::array<BroadcastKind, 2> broadcast;
  if (const ElementwiseLoopKernel* const kernel = LoopKernelOf(item, &broadcast)) {
    member.loops = &kernel->loops();
    member.broadcast.assign(broadcast.begin(), broadcast.end());
  } else if (const ElementwiseLoops* const loops = GroupLoopsOf(item, &member.broadcast)) {
    member.loops = loops;
  } else {
    member.rows = RowKernelOf(item);
    member.broadcast = {BroadcastKind::kWhole, BroadcastKind::kAxes};
  }
  return member;
}

}  // namespace sluice
