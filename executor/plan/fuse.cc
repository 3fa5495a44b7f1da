#include "executor/plan/fuse.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/plan/fused_elementwise.h"
#include "graph/ir/constant.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// False where the shapes are known to differ; a scalar goes with everything.
bool MayMeet(const PartialShape& operand, const PartialShape& result) {
  const bool is_scalar = operand.rank_known() && operand.rank() == 0;
  return is_scalar || operand.IsCompatibleWith(result);
}

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
  if (!operand.rank_known() || !result.rank_known() || operand.rank() != result.rank())
    return false;
  const int last = result.rank() - 1;
  if (last < 1 || operand.dim(last) != 1 || result.dim(last) < kLeastInARow) return false;
  for (int i = 0; i < last; ++i) {
    if (operand.dim(i) != result.dim(i)) return false;
  }
  return true;
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

}  // namespace

ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item) {
  if (item.kind != OpKind::kKernel || item.output_types.size() != 1) return nullptr;
  auto* kernel = dynamic_cast<ElementwiseLoopKernel*>(item.kernel);
  if (kernel == nullptr || !kernel->IsLoopsAlone()) return nullptr;
  const size_t operands = kernel->loops().one != nullptr ? 1 : 2;
  if (item.inputs.size() != operands) return nullptr;
  // Elements that are objects cannot lie in a tile.
  if (DataTypeSize(item.output_types[0]) != kernel->loops().out_size) return nullptr;
  const Node& node = *item.node;
  const std::optional<std::array<Meets, 2>> meets = OperandsOf(node);
  if (!meets.has_value()) return nullptr;
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

namespace {

// Of what is computed anew for each group that reads it: a node, and all that it is made from.
// Reading what was stored takes about as long.
constexpr double kMostNodeNs = 0.2, kMostCopiedNs = 0.8;
constexpr size_t kMostReaders = 8;

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
  if (!kernel->IsReduction()) return kernel;
  const Tensor* const axes = ConstantBehind(item.node->input(1));
  if (axes == nullptr || axes->num_elements() != 1) return nullptr;
  const int64_t axis =
      axes->dtype() == DT_INT32 ? axes->data<int32_t>()[0] : axes->data<int64_t>()[0];
  return axis == -1 || axis == last ? kernel : nullptr;
}

bool IsSame(const DraftInput& a, const DraftInput& b) {
  return a.base == b.base && a.item == b.item && a.index == b.index;
}

class Fuser {
 public:
  Fuser(DraftBody& body, std::vector<std::shared_ptr<const FusedElementwise>>* fused)
      : body_(body),
        fused_(fused),
        kernels_(body.items.size()),
        rows_(body.items.size()),
        meets_(body.items.size()),
        readers_(body.items.size()),
        sources_(body.items.size()),
        is_awaited_(body.items.size(), false),
        is_stored_(body.items.size(), false),
        is_chosen_(body.items.size(), false),
        goes_(body.items.size(), false) {
    for (size_t i = 0; i < body.items.size(); ++i) {
      const DraftItem& item = body.items[i];
      kernels_[i] = LoopKernelOf(item);
      if (kernels_[i] != nullptr) {
        meets_[i] = *OperandsOf(*item.node);
      } else {
        rows_[i] = RowKernelOf(item);
        meets_[i] = {Meets::kWhole, Meets::kAside};
      }
      for (const DraftInput& in : item.inputs) {
        if (in.item >= 0) readers_[in.item].push_back(static_cast<int>(i));
      }
      for (int c : item.controls) is_awaited_[c] = true;
    }
    // Operands come before their readers.
    for (size_t i = 0; i < sources_.size(); ++i) sources_[i] = SourceOf(static_cast<int>(i));
  }

  // Readers first: what one of them does not take with it, no later one can.
  void Run() {
    for (int i = static_cast<int>(body_.items.size()) - 1; i >= 0; --i) {
      if (IsMember(i) && !body_.items[i].is_fused_away) Grow(i);
    }
  }

 private:
  // The tensor that a cheap node is made of, through other cheap ones, and what all of them cost.
  struct Source {
    std::optional<DraftInput> tensor;  // none: of parts alone
    double cost = 0;
  };

  // Inside of a group, or at its end.
  bool IsMember(int i) const { return kernels_[i] != nullptr || rows_[i] != nullptr; }

  // Whether item `i` can run inside of the one that reads it, as far as device and sizes go.
  bool CanRunIn(int i, int reader) const {
    const DraftItem& to = body_.items[reader];
    for (size_t k = 0; k < to.inputs.size(); ++k) {
      if (to.inputs[k].item == i && meets_[reader][k] != Meets::kWhole) return false;
    }
    const PartialShape& elements =
        rows_[reader] != nullptr ? to.node->input(0).shape() : to.node->output_shape(0);
    const Node& node = *body_.items[i].node;
    return node.assigned_device() == to.node->assigned_device() &&
           MayMeet(node.output_shape(0), elements);
  }

  // Of items that need not be stored: others have none.
  std::optional<Source> SourceOf(int i) const {
    if (kernels_[i] == nullptr || is_awaited_[i] || readers_[i].size() > kMostReaders) return {};
    for (int to : readers_[i]) {
      if (!IsMember(to) || !CanRunIn(i, to)) return {};
    }
    const DraftItem& item = body_.items[i];
    const ElementwiseLoops& loops = kernels_[i]->loops();
    if (loops.cost > kMostNodeNs || loops.out_size < loops.in_size) return {};  // masks are kept
    Source source{{}, loops.cost};
    bool is_scalar = true;
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      const PartialShape& shape = item.node->input(static_cast<int>(k)).shape();
      if (shape.rank_known() && shape.rank() == 0) continue;
      is_scalar = false;
      if (meets_[i][k] != Meets::kWhole) continue;
      const bool is_copied = in.item >= 0 && sources_[in.item].has_value();
      const Source from = is_copied ? *sources_[in.item] : Source{in};
      source.cost += from.cost;
      if (!from.tensor.has_value()) continue;
      if (source.tensor.has_value() && !IsSame(*source.tensor, *from.tensor)) return {};
      source.tensor = from.tensor;
    }
    if (is_scalar || source.cost > kMostCopiedNs) return {};
    return source;
  }

  // Whether the item's result goes to items only that go into the group.
  bool IsInner(int i) const {
    if (kernels_[i] == nullptr || is_awaited_[i] || is_stored_[i]) return false;
    return std::all_of(readers_[i].begin(), readers_[i].end(),
                       [&](int to) { return goes_[to] && CanRunIn(i, to); });
  }

  // Whether the group may compute it although others read it too.
  bool IsCopied(int i) const {
    return sources_[i].has_value() && kernels_[i] != nullptr && !is_stored_[i];
  }

  // Takes as many items above `root` as fit, and makes them one with it.
  void Grow(int root) {
    std::vector<int> chosen = {root};  // readers first
    is_chosen_[root] = goes_[root] = true;
    std::vector<int> rest = Above(root);
    while (!rest.empty() && chosen.size() < FusedElementwise::kMostMembers) {
      const int next = rest.back();
      rest.pop_back();
      if (is_chosen_[next]) continue;
      is_chosen_[next] = true;
      if (!Fits(root)) {
        is_chosen_[next] = false;
        continue;
      }
      const auto place = std::lower_bound(chosen.begin(), chosen.end(), next, std::greater<int>());
      chosen.insert(place, next);
      Follow(next, chosen, &rest);
    }
    if (chosen.size() > 1) Join(root);
    for (int i : chosen) is_chosen_[i] = goes_[i] = false;
  }

  // What goes now that `next` is chosen, and what may follow.
  void Follow(int next, const std::vector<int>& chosen, std::vector<int>* rest) {
    const auto ask_above = [&](int i) {
      const std::vector<int> above = Above(i);
      rest->insert(rest->end(), above.begin(), above.end());
    };
    if (!IsInner(next)) ask_above(next);
    for (int i : chosen) {
      if (goes_[i] || !IsInner(i)) continue;
      goes_[i] = true;
      ask_above(i);
    }
  }

  std::vector<int> Above(int i) const {
    std::vector<int> above;
    const std::vector<DraftInput>& inputs = body_.items[i].inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int from = inputs[k].item;
      if (from < 0 || meets_[i][k] != Meets::kWhole) continue;
      if (IsInner(from) || IsCopied(from)) above.push_back(from);
    }
    return above;
  }

  struct Group {
    std::vector<FusedMember> members;
    std::vector<int> items;  // of the members
    std::vector<DraftInput> inputs;
    std::vector<Meets> meets;  // by input: one that is a row here and whole there counts twice
  };

  // The operands first.
  int AddMember(int i, Group* group) const {
    const auto known = std::find(group->items.begin(), group->items.end(), i);
    if (known != group->items.end()) return static_cast<int>(known - group->items.begin());
    const DraftItem& item = body_.items[i];
    FusedMember member{.node = item.node,
                       .kernel = item.kernel,
                       .loops = kernels_[i] != nullptr ? &kernels_[i]->loops() : nullptr,
                       .rows = rows_[i],
                       .num_operands = static_cast<int>(item.inputs.size()),
                       .output_type = item.output_types[0]};
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      if (in.item >= 0 && is_chosen_[in.item] && meets_[i][k] == Meets::kWhole) {
        member.operands[k].member = AddMember(in.item, group);
      } else {
        member.operands[k].meets = meets_[i][k];
        member.operands[k].input = InputOf(in, meets_[i][k], group);
      }
    }
    group->members.push_back(member);
    group->items.push_back(i);
    return static_cast<int>(group->members.size()) - 1;
  }

  static int InputOf(const DraftInput& in, Meets meets, Group* group) {
    const int known = static_cast<int>(group->inputs.size());
    for (int i = 0; i < known; ++i) {
      const DraftInput& other = group->inputs[i];
      if (IsSame(other, in) && group->meets[i] == meets) return i;
    }
    group->inputs.push_back(in);
    group->meets.push_back(meets);
    return known;
  }

  bool Fits(int root) const {
    Group group;
    AddMember(root, &group);
    return group.inputs.size() <= FusedElementwise::kMostInputs &&
           FusedElementwise::Fits(group.members);
  }

  void Join(int root) {
    Group group;
    AddMember(root, &group);
    DraftItem& item = body_.items[root];
    for (const DraftInput& in : group.inputs) {
      if (in.item >= 0) is_stored_[in.item] = true;
    }
    for (int i : group.items) {
      if (i == root) continue;
      const DraftItem& inner = body_.items[i];
      item.controls.insert(item.controls.end(), inner.controls.begin(), inner.controls.end());
      if (goes_[i]) {
        RemoveItem(i);
      } else {
        auto& left = readers_[i];
        left.erase(std::remove_if(left.begin(), left.end(), [&](int to) { return goes_[to]; }),
                   left.end());
      }
    }
    std::sort(item.controls.begin(), item.controls.end());
    item.controls.erase(std::unique(item.controls.begin(), item.controls.end()),
                        item.controls.end());
    item.kind = OpKind::kFused;
    item.kernel = nullptr;
    kernels_[root] = nullptr;
    rows_[root] = nullptr;
    item.aux = static_cast<int>(fused_->size());
    const int num_inputs = static_cast<int>(group.inputs.size());
    item.inputs = std::move(group.inputs);
    fused_->push_back(
        std::make_shared<const FusedElementwise>(std::move(group.members), num_inputs));
  }

  void RemoveItem(int i) {
    DraftItem& item = body_.items[i];
    item.is_fused_away = true;
    item.inputs.clear();
    item.controls.clear();
    item.output_types.clear();
    item.kernel = nullptr;
    kernels_[i] = nullptr;
  }

  DraftBody& body_;
  std::vector<std::shared_ptr<const FusedElementwise>>* fused_;
  std::vector<ElementwiseLoopKernel*> kernels_;       // by item; null once it is in a group
  std::vector<const RowKernel*> rows_;                // likewise: may end a group
  std::vector<std::array<Meets, 2>> meets_;           // by item: of a member's operands
  std::vector<absl::InlinedVector<int, 2>> readers_;  // by item
  std::vector<std::optional<Source>> sources_;        // by item
  std::vector<bool> is_awaited_;                      // by item: another waits for its end
  std::vector<bool> is_stored_;                       // by item: a group reads its result
  std::vector<bool> is_chosen_;                       // by item: for the group being made
  std::vector<bool> goes_;                            // by item: chosen, and nobody else reads it
};

}  // namespace

void FuseElementwise(DraftBody& body, std::vector<std::shared_ptr<const FusedElementwise>>* fused) {
  Fuser(body, fused).Run();
}

}  // namespace sluice
