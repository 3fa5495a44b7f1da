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

// The broadcast kinds of an elementwise node's operands, from known shapes. Nullopt if a group
// cannot compute the node.
std::optional<std::array<BroadcastKind, 2>> OperandsOf(const Node& node) {
  std::array<BroadcastKind, 2> broadcast = {BroadcastKind::kWhole, BroadcastKind::kWhole};
  const PartialShape& result = node.output_shape(0);
  bool has_part = false;
  for (int k = 0; k < node.num_inputs() && k < 2; ++k) {
    const PartialShape& shape = node.input(k).shape();
    if (node.num_inputs() == 2 && IsRepeatedIn(shape, result)) {
      broadcast[k] = BroadcastKind::kRow;
    } else if (node.num_inputs() == 2 && IsColumnOf(shape, result)) {
      broadcast[k] = BroadcastKind::kColumn;
    } else if (!IsCompatible(shape, result)) {
      return std::nullopt;
    }
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

// The item's kernel if it only runs its loops and if, by the known shapes, at most one operand
// broadcasts: it is repeated over the first dimensions (a bias) or has one element per row (a
// mean). Null for other items. Sets the broadcast kinds of the operands.
ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item,
                                    std::array<BroadcastKind, 2>* broadcast) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  auto* kernel = dynamic_cast<ElementwiseLoopKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->IsLoopsAlone()) return nullptr;
  const size_t operands = kernel->loops().one != nullptr ? 1 : 2;
  if (item.inputs.size() != operands) return nullptr;
  // A tile cannot hold objects.
  if (DataTypeSize(item.output_types[0]) != kernel->loops().out_size) return nullptr;
  const Node& node = *item.node;
  const std::optional<std::array<BroadcastKind, 2>> found = OperandsOf(node);
  if (!found.has_value()) return nullptr;
  *broadcast = *found;
  const ElementwiseLoops& loops = kernel->loops();
  const bool has_part =
      (*broadcast)[0] != BroadcastKind::kWhole || (*broadcast)[1] != BroadcastKind::kWhole;
  if (loops.y_is_row ? (*broadcast)[1] != BroadcastKind::kRow
                     : has_part && loops.x_alone == nullptr) {
    return nullptr;
  }
  for (int i = 0; i < static_cast<int>(operands); ++i) {
    if (item.inputs[i].is_ref) return nullptr;
    if (DataTypeSize(node.input_type(i)) != kernel->loops().in_size) return nullptr;
  }
  return kernel;
}

// The item's kernel if, by the known shapes, it maps rows of input 0. Null for other items.
const RowKernel* RowKernelOf(const DraftItem& item) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  const auto* kernel = dynamic_cast<const RowKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->CanMakeRows()) return nullptr;
  const size_t inputs = kernel->IsReduction() ? 2 : 1;
  if (item.inputs.size() != inputs || item.inputs[0].is_ref) return nullptr;
  const PartialShape& shape = item.node->input(0).shape();
  if (!shape.rank_known() || shape.rank() == 0) return nullptr;
  const int last = shape.rank() - 1;
  const int64_t row = shape.dim(last);  // -1 if unknown
  if (row < kLeastInARow || row > FusedElementwise::kMostInARow) return nullptr;
  const size_t bytes = static_cast<size_t>(row) * DataTypeSize(item.node->input_type(0));
  if (bytes > FusedElementwise::kRegisterBytes) return nullptr;
  if (!kernel->IsReduction()) return kernel;
  const Tensor* const axes = ConstantBehind(item.node->input(1));
  if (axes == nullptr || axes->num_elements() != 1) return nullptr;
  const int64_t axis =
      axes->dtype() == DT_INT32 ? axes->data<int32_t>()[0] : axes->data<int64_t>()[0];
  return axis == -1 || axis == last ? kernel : nullptr;
}

// The loops that a kernel runs only in groups (GroupLoops). Null for other items.
const ElementwiseLoops* GroupLoopsOf(const DraftItem& item,
                                     absl::InlinedVector<BroadcastKind, 2>* broadcast) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  const auto* member = dynamic_cast<const GroupLoops*>(item.kernel);
  const ElementwiseLoops* const loops = member != nullptr ? member->LoopsInGroup() : nullptr;
  const Node& node = *item.node;
  if (loops == nullptr || DataTypeSize(item.output_types[0]) != loops->out_size) return nullptr;
  const PartialShape& result = node.output_shape(0);
  if (loops->spreads) {
    const PartialShape& x = node.input(0).shape();
    // A value that is fed instead of a constant may contradict the result's shape.
    if (item.inputs[0].is_ref || ConstantBehind(node.input(1)) == nullptr) return nullptr;
    if (!x.IsFullyDefined() || !result.IsFullyDefined()) return nullptr;
    *broadcast = {BroadcastKind::kColumn, BroadcastKind::kAxes};
    return IsColumnOf(x, result) ? loops : nullptr;
  }
  const size_t operands = item.inputs.size();
  if (operands != static_cast<size_t>(node.num_inputs())) {
    return nullptr;  // accumulate_sums added an input
  }
  if (operands < 2 || operands > FusedElementwise::kMostOperands) return nullptr;
  for (size_t k = 0; k < operands; ++k) {
    if (item.inputs[k].is_ref || !IsCompatible(node.input(k).shape(), result)) return nullptr;
  }
  broadcast->assign(operands, BroadcastKind::kWhole);
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
