#include "executor/fusion/fuse_elementwise.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "executor/fusion/fused_elementwise.h"
#include "executor/fusion/fusible.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// A node is recomputed in each group that reads it only if it takes at most kMostNodeNs nanoseconds
// per element, and at most kMostCopiedNs together with the nodes that must be recomputed for it.
// Reading a stored result takes about as long.
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
        members_(body.items.size()),
        readers_(body.items.size()),
        sources_(body.items.size()),
        is_awaited_(body.items.size(), false),
        is_stored_(body.items.size(), false),
        is_chosen_(body.items.size(), false),
        is_inner_(body.items.size(), false) {
    for (size_t i = 0; i < body.items.size(); ++i) {
      const DraftItem& item = body.items[i];
      members_[i] = MembershipOf(item);
      for (const DraftInput& in : item.inputs) {
        if (in.item >= 0) readers_[in.item].push_back(static_cast<int>(i));
      }
      for (int c : item.controls) is_awaited_[c] = true;
    }
    // Items come after their operands.
    for (size_t i = 0; i < sources_.size(); ++i) sources_[i] = SourceOf(static_cast<int>(i));
  }

  // Readers come first: an item that a reader cannot take into its group cannot join a later one.
  void Run() {
    for (int i = static_cast<int>(body_.items.size()) - 1; i >= 0; --i) {
      if (members_[i] && !body_.items[i].is_fused_away) Grow(i);
    }
  }

 private:
  // The tensor that a cheap item is computed from, through other cheap items, and their total cost.
  struct Source {
    std::optional<DraftInput> tensor;  // none if the item is computed from rows and columns only
    double cost = 0;
  };

  // Whether devices and known shapes permit item `i` to run in its reader's group.
  bool CanRunIn(int i, int reader) const {
    const DraftItem& to = body_.items[reader];
    for (size_t k = 0; k < to.inputs.size(); ++k) {
      if (to.inputs[k].item == i && members_[reader].broadcast[k] != BroadcastKind::kWhole) {
        return false;
      }
    }
    const PartialShape& elements =
        members_[reader].rows != nullptr ? to.node->input(0).shape() : to.node->output_shape(0);
    const Node& node = *body_.items[i].node;
    return node.assigned_device() == to.node->assigned_device() &&
           IsCompatible(node.output_shape(0), elements);
  }

  // Whether each reader can recompute item `i`, and that is cheaper than storing it.
  bool CanBeRecomputed(int i) const {
    const ElementwiseLoops* loops = members_[i].loops;
    if (loops == nullptr || is_awaited_[i] || readers_[i].size() > kMostReaders) return false;
    for (int to : readers_[i]) {
      if (!members_[to] || !CanRunIn(i, to)) return false;
    }
    return loops->cost <= kMostNodeNs && loops->out_size >= loops->in_size;  // masks are stored
  }

  // Adds the source of input `in` to `source`. Returns false if the two have different tensors.
  bool AddSource(const DraftInput& in, Source& source) const {
    const bool is_copied = in.item >= 0 && sources_[in.item].has_value();
    const Source from = is_copied ? *sources_[in.item] : Source{in};
    source.cost += from.cost;
    if (!from.tensor.has_value()) return true;
    if (source.tensor.has_value() && !IsSame(*source.tensor, *from.tensor)) return false;
    source.tensor = from.tensor;
    return true;
  }

  // The source of an item that can be recomputed; none for other items.
  std::optional<Source> SourceOf(int i) const {
    if (!CanBeRecomputed(i)) return {};
    const DraftItem& item = body_.items[i];
    Source source{{}, members_[i].loops->cost};
    bool is_scalar = true;
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      const PartialShape& shape = item.node->input(static_cast<int>(k)).shape();
      if (shape.rank_known() && shape.rank() == 0) continue;
      is_scalar = false;
      if (members_[i].broadcast[k] != BroadcastKind::kWhole) continue;
      if (!AddSource(in, source)) return {};
    }
    if (is_scalar || source.cost > kMostCopiedNs) return {};
    return source;
  }

  // Whether only items of the group read the item's result.
  bool IsInner(int i) const {
    if (members_[i].loops == nullptr || is_awaited_[i] || is_stored_[i]) return false;
    return std::all_of(readers_[i].begin(), readers_[i].end(),
                       [&](int to) { return is_inner_[to] && CanRunIn(i, to); });
  }

  // Whether the group may recompute the item although other items read it too.
  bool IsCopied(int i) const {
    return sources_[i].has_value() && members_[i].loops != nullptr && !is_stored_[i];
  }

  // Makes a group of `root` and as many as possible of the items from which it is computed.
  void Grow(int root) {
    std::vector<int> chosen = {root};  // readers first
    is_chosen_[root] = is_inner_[root] = true;
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
    for (int i : chosen) is_chosen_[i] = is_inner_[i] = false;
  }

  // Marks the items that become inner items after `next` is chosen, and adds their operands.
  void Follow(int next, const std::vector<int>& chosen, std::vector<int>* rest) {
    const auto add_above = [&](int i) {
      const std::vector<int> above = Above(i);
      rest->insert(rest->end(), above.begin(), above.end());
    };
    if (!IsInner(next)) add_above(next);
    for (int i : chosen) {
      if (is_inner_[i] || !IsInner(i)) continue;
      is_inner_[i] = true;
      add_above(i);
    }
  }

  std::vector<int> Above(int i) const {
    std::vector<int> above;
    const std::vector<DraftInput>& inputs = body_.items[i].inputs;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int from = inputs[k].item;
      if (from < 0 || members_[i].broadcast[k] != BroadcastKind::kWhole) continue;
      if (IsInner(from) || IsCopied(from)) above.push_back(from);
    }
    return above;
  }

  struct Group {
    std::vector<FusedMember> members;
    std::vector<int> items;  // of the members
    std::vector<DraftInput> inputs;
    std::vector<BroadcastKind>
        broadcast;  // by input: a tensor used as a row and as a whole counts twice
  };

  // Adds item `i` after its operands, and returns its index among the members.
  int AddMember(int i, Group* group) const {
    const auto known = std::find(group->items.begin(), group->items.end(), i);
    if (known != group->items.end()) return static_cast<int>(known - group->items.begin());
    const DraftItem& item = body_.items[i];
    FusedMember member{.node = item.node,
                       .kernel = item.kernel,
                       .loops = members_[i].loops,
                       .rows = members_[i].rows,
                       .output_type = item.output_types[0]};
    member.operands.resize(item.inputs.size());
    for (size_t k = 0; k < item.inputs.size(); ++k) {
      const DraftInput& in = item.inputs[k];
      if (in.item >= 0 && is_chosen_[in.item] &&
          members_[i].broadcast[k] == BroadcastKind::kWhole) {
        member.operands[k].member = AddMember(in.item, group);
      } else {
        member.operands[k].broadcast = members_[i].broadcast[k];
        member.operands[k].input = InputOf(in, members_[i].broadcast[k], group);
      }
    }
    group->members.push_back(member);
    group->items.push_back(i);
    return static_cast<int>(group->members.size()) - 1;
  }

  static int InputOf(const DraftInput& in, BroadcastKind broadcast, Group* group) {
    const int known = static_cast<int>(group->inputs.size());
    for (int i = 0; i < known; ++i) {
      const DraftInput& other = group->inputs[i];
      if (IsSame(other, in) && group->broadcast[i] == broadcast) return i;
    }
    group->inputs.push_back(in);
    group->broadcast.push_back(broadcast);
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
      if (is_inner_[i]) {
        RemoveItem(i);
      } else {
        auto& left = readers_[i];
        left.erase(std::remove_if(left.begin(), left.end(), [&](int to) { return is_inner_[to]; }),
                   left.end());
      }
    }
    std::sort(item.controls.begin(), item.controls.end());
    item.controls.erase(std::unique(item.controls.begin(), item.controls.end()),
                        item.controls.end());
    item.kind = OpKind::kFused;
    item.kernel = nullptr;
    members_[root] = {};
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
    members_[i] = {};
  }

  DraftBody& body_;
  std::vector<std::shared_ptr<const FusedElementwise>>* fused_;
  std::vector<Membership> members_;                   // by item; none once it is in a group
  std::vector<absl::InlinedVector<int, 2>> readers_;  // by item
  std::vector<std::optional<Source>> sources_;        // by item
  std::vector<bool> is_awaited_;                      // by item: has control outputs
  std::vector<bool> is_stored_;                       // by item: a group reads its result
  std::vector<bool> is_chosen_;                       // by item: for the current group
  std::vector<bool> is_inner_;                        // by item: chosen and read only in the group
};

}  // namespace

int FuseElementwise(DraftBody& body, Draft& draft) {
  const size_t before = draft.fused.size();
  Fuser(body, &draft.fused).Run();
  return static_cast<int>(draft.fused.size() - before);
}

}  // namespace sluice
