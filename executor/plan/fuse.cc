#include "executor/plan/fuse.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/plan/fused_elementwise.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// False where the shapes are known to differ; a scalar goes with everything.
bool MayMeet(const PartialShape& operand, const PartialShape& result) {
  const bool is_scalar = operand.rank_known() && operand.rank() == 0;
  return is_scalar || operand.IsCompatibleWith(result);
}

// Known to be a vector as long as the last dimension of `result`, which has others.
bool IsRowOf(const PartialShape& operand, const PartialShape& result) {
  if (operand.rank() != 1 || operand.dim(0) == PartialShape::kUnknown) return false;
  return result.rank() >= 2 && result.dim(result.rank() - 1) == operand.dim(0);
}

// The operand of two that meets the rows of the other one; -1: none.
int RowOperandOf(const Node& node) {
  if (node.num_inputs() != 2) return -1;
  const PartialShape& result = node.output_shape(0);
  for (int k = 0; k < 2; ++k) {
    const PartialShape& other = node.input(1 - k).shape();
    const bool is_full = other.rank_known() && other.IsCompatibleWith(result);
    if (is_full && IsRowOf(node.input(k).shape(), result)) return k;
  }
  return -1;
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
  const int row = RowOperandOf(node);
  const ElementwiseLoops& loops = kernel->loops();
  if (loops.y_is_row ? row != 1 : row >= 0 && loops.x_alone == nullptr) return nullptr;
  for (int i = 0; i < static_cast<int>(operands); ++i) {
    if (item.inputs[i].is_ref) return nullptr;
    if (DataTypeSize(node.input_type(i)) != kernel->loops().in_size) return nullptr;
    if (i != row && !MayMeet(node.input(i).shape(), node.output_shape(0))) return nullptr;
  }
  return kernel;
}

namespace {

// Of what is computed anew for each group that reads it: a node, and all that it is made from.
// Reading what was stored takes about as long.
constexpr double kMostNodeNs = 0.2, kMostCopiedNs = 0.8;
constexpr size_t kMostReaders = 8;

bool IsSame(const DraftInput& a, const DraftInput& b) {
  return a.base == b.base && a.item == b.item && a.index == b.index;
}

class Fuser {
 public:
  Fuser(DraftBody& body, std::vector<std::shared_ptr<const FusedElementwise>>* fused)
      : body_(body),
        fused_(fused),
        kernels_(body.items.size()),
        readers_(body.items.size()),
        sources_(body.items.size()),
        is_awaited_(body.items.size(), false),
        is_stored_(body.items.size(), false),
        is_chosen_(body.items.size(), false),
        goes_(body.items.size(), false) {
    for (size_t i = 0; i < body.items.size(); ++i) {
      const DraftItem& item = body.items[i];
      kernels_[i] = LoopKernelOf(item);
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
      if (kernels_[i] != nullptr && !body_.items[i].is_fused_away) Grow(i);
    }
  }

 private:
  // The tensor that a cheap node is made of, through other cheap ones, and what all of them cost.
  struct Source {
    DraftInput tensor;
    double cost;
  };

  // Whether item `i` can run inside of the one that reads it, as far as device and sizes go.
  bool Meets(int i, int reader) const {
    const Node &node = *body_.items[i].node, &to = *body_.items[reader].node;
    return node.assigned_device() == to.assigned_device() &&
           MayMeet(node.output_shape(0), to.output_shape(0));
  }

  // Of items that need not be stored: others have none.
  std::optional<Source> SourceOf(int i) const {
    if (kernels_[i] == nullptr || is_awaited_[i] || readers_[i].size() > kMostReaders) return {};
    for (int to : readers_[i]) {
      if (kernels_[to] == nullptr || !Meets(i, to)) return {};
    }
    const DraftItem& item = body_.items[i];
    const int row = RowOperandOf(*item.node);
    std::optional<Source> source;
    const ElementwiseLoops& loops = kernels_[i]->loops();
    if (loops.cost > kMostNodeNs || loops.out_size < loops.in_size) return {};  // masks are kept
    double cost = loops.cost;
    for (int k = 0; k < static_cast<int>(item.inputs.size()); ++k) {
      const DraftInput& in = item.inputs[k];
      const PartialShape& shape = item.node->input(k).shape();
      if (k == row || (shape.rank_known() && shape.rank() == 0)) continue;
      const bool is_copied = in.item >= 0 && sources_[in.item].has_value();
      const Source from = is_copied ? *sources_[in.item] : Source{in, 0};
      if (source.has_value() && !IsSame(source->tensor, from.tensor)) return {};
      source = from;
      cost += from.cost;
    }
    if (!source.has_value() || cost > kMostCopiedNs) return {};
    source->cost = cost;
    return source;
  }

  // Whether the item's result goes to items only that go into the group.
  bool IsInner(int i) const {
    if (kernels_[i] == nullptr || is_awaited_[i] || is_stored_[i]) return false;
    return std::all_of(readers_[i].begin(), readers_[i].end(),
                       [&](int to) { return goes_[to] && Meets(i, to); });
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
    for (const DraftInput& in : body_.items[i].inputs) {
      if (in.item >= 0 && (IsInner(in.item) || IsCopied(in.item))) above.push_back(in.item);
    }
    return above;
  }

  struct Group {
    std::vector<FusedMember> members;
    std::vector<int> items;  // of the members
    std::vector<DraftInput> inputs;
    std::vector<bool> is_row;  // by input: one that is a row here and a whole there counts twice
  };

  // The operands first.
  int AddMember(int i, Group* group) const {
    const auto known = std::find(group->items.begin(), group->items.end(), i);
    if (known != group->items.end()) return static_cast<int>(known - group->items.begin());
    const DraftItem& item = body_.items[i];
    FusedMember member{
        item.node, kernels_[i], {}, static_cast<int>(item.inputs.size()), item.output_types[0]};
    const int row = RowOperandOf(*item.node);
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      if (in.item >= 0 && is_chosen_[in.item]) {
        member.operands[k].member = AddMember(in.item, group);
      } else {
        member.operands[k].is_row = static_cast<int>(k) == row;
        member.operands[k].input = InputOf(in, member.operands[k].is_row, group);
      }
    }
    group->members.push_back(member);
    group->items.push_back(i);
    return static_cast<int>(group->members.size()) - 1;
  }

  static int InputOf(const DraftInput& in, bool is_row, Group* group) {
    const int known = static_cast<int>(group->inputs.size());
    for (int i = 0; i < known; ++i) {
      const DraftInput& other = group->inputs[i];
      if (IsSame(other, in) && group->is_row[i] == is_row) return i;
    }
    group->inputs.push_back(in);
    group->is_row.push_back(is_row);
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
