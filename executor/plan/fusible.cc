#include "executor/plan/fusible.h"

#include <algorithm>
#include <array>
#include <optional>

#include "graph/ir/constant.h"
#include "graph/ir/graph.h"

namespace sluice {

bool MayMeet(const PartialShape& operand, const PartialShape& result) {
  const bool is_scalar = operand.rank_known() && operand.rank() == 0;
  return is_scalar || operand.IsCompatibleWith(result);
}

namespace {

constexpr int64_t kMostRepeated = 1 << 16;  // elements: larger parts do not stay in a cache
constexpr int64_t kLeastInARow = 16;        // elements that are worth a call of a loop

// Whether the operand lies along some of the last dimensions, and the others may not all be 1.
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

// Whether the operand has one element where the result has a row.
bool IsColumnOf(const PartialShape& operand, const PartialShape& result) {
  if (!operand.rank_known() || !result.rank_known() || result.rank() < 2) return false;
  return result.dim(result.rank() - 1) >= kLeastInARow &&
         HasOneElementARow(operand.dims(), result.dims());
}

// How the operands of an elementwise node meet its result, so far as their shapes are known; null
// for those that meet it in no way that a group can compute.
std::optional<std::array<Meets, 2>> OperandsOf(const Node& node) {
  std::array<Meets, 2> meets = {Meets::kWhole, Meets::kWhole};
  const PartialShape& result = node.output_shape(0);
  bool has_part = false;
  for (int k = 0; k < node.num_inputs() && k < 2; ++k) {
    const PartialShape& shape = node.input(k).shape();
    if (node.num_inputs() == 2 && IsRepeatedIn(shape, result)) {
      meets[k] = Meets::kRow;
    } else if (node.num_inputs() == 2 && IsColumnOf(shape, result)) {
      meets[k] = Meets::kColumn;
    } else if (!MayMeet(shape, result)) {
      return std::nullopt;
    }
    has_part |= meets[k] != Meets::kWhole;
  }
  if (!has_part) return meets;
  if (meets[0] == meets[1]) return std::nullopt;
  for (int k = 0; k < 2; ++k) {  // what meets a part gives all of the result
    const PartialShape& shape = node.input(k).shape();
    const bool is_full = shape.rank_known() && shape.rank() == result.rank();
    if (meets[k] == Meets::kWhole && !is_full) return std::nullopt;
  }
  return meets;
}

// LoopKernelOf, and how the operands of what it gives meet the result.
ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item, std::array<Meets, 2>* meets) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  auto* kernel = dynamic_cast<ElementwiseLoopKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->IsLoopsAlone()) return nullptr;
  const size_t operands = kernel->loops().one != nullptr ? 1 : 2;
  if (item.inputs.size() != operands) return nullptr;
  // Elements that are objects cannot lie in a tile.
  if (DataTypeSize(item.output_types[0]) != kernel->loops().out_size) return nullptr;
  const Node& node = *item.node;
  const std::optional<std::array<Meets, 2>> found = OperandsOf(node);
  if (!found.has_value()) return nullptr;
  *meets = *found;
  const ElementwiseLoops& loops = kernel->loops();
  const bool has_part = (*meets)[0] != Meets::kWhole || (*meets)[1] != Meets::kWhole;
  if (loops.y_is_row ? (*meets)[1] != Meets::kRow : has_part && loops.x_alone == nullptr) {
    return nullptr;
  }
  for (int i = 0; i < static_cast<int>(operands); ++i) {
    if (item.inputs[i].is_ref) return nullptr;
    if (DataTypeSize(node.input_type(i)) != kernel->loops().in_size) return nullptr;
  }
  return kernel;
}

// An item whose kernel makes rows of input 0, as far as is known; null for others.
const RowKernel* RowKernelOf(const DraftItem& item) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  const auto* kernel = dynamic_cast<const RowKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->CanMakeRows()) return nullptr;
  const size_t inputs = kernel->IsReduction() ? 2 : 1;
  if (item.inputs.size() != inputs || item.inputs[0].is_ref) return nullptr;
  const PartialShape& shape = item.node->input(0).shape();
  if (!shape.rank_known() || shape.rank() == 0) return nullptr;
  const int last = shape.rank() - 1;
  const int64_t row = shape.dim(last);  // -1: not known
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

// Loops of a kernel that does other things too when it runs alone.
const ElementwiseLoops* GroupLoopsOf(const DraftItem& item, absl::InlinedVector<Meets, 2>* meets) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  const auto* member = dynamic_cast<const GroupLoops*>(item.kernel);
  const ElementwiseLoops* const loops = member != nullptr ? member->LoopsInGroup() : nullptr;
  const Node& node = *item.node;
  if (loops == nullptr || DataTypeSize(item.output_types[0]) != loops->out_size) return nullptr;
  const PartialShape& result = node.output_shape(0);
  if (loops->spreads) {
    const PartialShape& x = node.input(0).shape();
    // What is fed in place of a constant may say otherwise than the result's shape.
    if (item.inputs[0].is_ref || ConstantBehind(node.input(1)) == nullptr) return nullptr;
    if (!x.IsFullyDefined() || !result.IsFullyDefined()) return nullptr;
    *meets = {Meets::kColumn, Meets::kAside};
    return IsColumnOf(x, result) ? loops : nullptr;
  }
  const size_t operands = item.inputs.size();
  if (operands != static_cast<size_t>(node.num_inputs())) return nullptr;  // a sum goes into it
  if (operands < 2 || operands > FusedElementwise::kMostOperands) return nullptr;
  for (size_t k = 0; k < operands; ++k) {
    if (item.inputs[k].is_ref || !MayMeet(node.input(k).shape(), result)) return nullptr;
  }
  meets->assign(operands, Meets::kWhole);
  return loops;
}

}  // namespace

ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item) {
  std::array<Meets, 2> meets;
  return LoopKernelOf(item, &meets);
}

Membership MembershipOf(const DraftItem& item) {
  Membership member;
  std::array<Meets, 2> meets;
  if (const ElementwiseLoopKernel* const kernel = LoopKernelOf(item, &meets)) {
    member.loops = &kernel->loops();
    member.meets.assign(meets.begin(), meets.end());
  } else if (const ElementwiseLoops* const loops = GroupLoopsOf(item, &member.meets)) {
    member.loops = loops;
  } else {
    member.rows = RowKernelOf(item);
    member.meets = {Meets::kWhole, Meets::kAside};
  }
  return member;
}

}  // namespace sluice
