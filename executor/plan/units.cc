#include "executor/plan/units.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace sluice {
namespace {

// Numbers sets of boundaries. Equal sets have equal numbers. 0 is the empty set.
class BoundarySets {
 public:
  BoundarySets() : sets_(1) { numbers_[{}] = 0; }

  const std::vector<int>& operator[](int set) const { return sets_[set]; }

  int Single(int boundary) { return Number({boundary}); }

  int Union(int a, int b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    if (a > b) std::swap(a, b);
    const auto [it, is_new] = unions_.emplace(std::make_pair(a, b), -1);
    if (!is_new) return it->second;
    std::vector<int> both;
    std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                   std::back_inserter(both));
    const int number = Number(std::move(both));
    unions_[{a, b}] = number;
    return number;
  }

 private:
  int Number(std::vector<int> set) {
    const auto [it, is_new] = numbers_.emplace(std::move(set), static_cast<int>(sets_.size()));
    if (is_new) sets_.push_back(it->first);
    return it->second;
  }

  std::vector<std::vector<int>> sets_;
  std::map<std::vector<int>, int> numbers_;
  absl::flat_hash_map<std::pair<int, int>, int> unions_;
};

// An item that waits for more boundaries becomes a boundary itself, so that the sets stay small.
constexpr size_t kLargestSet = 32;

class UnitAssigner {
 public:
  explicit UnitAssigner(const DraftBody& body) : body_(body), behind_(body.items.size(), 0) {
    result_.unit_of.assign(body.items.size(), -1);
  }

  UnitAssignment Run() {
    for (int i : body_.order) Place(i);
    for (UnitAssignment::Members& unit : result_.units) {
      for (int i : unit.items) {
        const DraftItem& item = body_.items[i];
        unit.may_be_dead |= item.may_be_dead || item.kind == OpKind::kSwitch ||
                            item.kind == OpKind::kMerge || item.kind == OpKind::kLoop;
      }
    }
    return std::move(result_);
  }

 private:
  // `together`: all inputs depend on the same boundaries.
  Unit::Kind KindOf(const DraftItem& item, bool together) const {
    if (item.kernel != nullptr && item.kernel->AsAsync() != nullptr) return Unit::Kind::kAsync;
    if (item.kind == OpKind::kArrival) return Unit::Kind::kArrival;
    const bool is_merge = item.kind == OpKind::kMerge && !(together && HasNoInvariant(item));
    return is_merge ? Unit::Kind::kMerge : Unit::Kind::kSegment;
  }

  void Place(int i) {
    const DraftItem& item = body_.items[i];
    int waits_for = 0;
    bool together = true;  // all inputs depend on the same boundaries
    bool first = true;
    const auto add = [&](int from) {
      together = together && (first || behind_[from] == waits_for);
      first = false;
      waits_for = sets_.Union(waits_for, behind_[from]);
    };
    for (const DraftInput& in : item.inputs) {
      if (in.item >= 0) add(in.item);
    }
    for (int from : item.controls) add(from);
    const Unit::Kind kind = KindOf(item, together);
    if (kind != Unit::Kind::kSegment || sets_[waits_for].size() > kLargestSet) {
      behind_[i] = sets_.Single(i);
      UnitAssignment::Members unit;
      unit.kind = kind;
      unit.items = {i};
      result_.unit_of[i] = static_cast<int>(result_.units.size());
      result_.units.push_back(std::move(unit));
      return;
    }
    behind_[i] = waits_for;
    const auto [it, is_new] = segments_.emplace(waits_for, static_cast<int>(result_.units.size()));
    if (is_new) result_.units.emplace_back();
    result_.unit_of[i] = it->second;
    result_.units[it->second].items.push_back(i);
  }

  // Invariants arrive at any time, and later iterations do not wait for them.
  static bool HasNoInvariant(const DraftItem& merge) {
    return std::none_of(merge.inputs.begin(), merge.inputs.end(),
                        [](const auto& in) { return in.base == ValueRef::kInvariant; });
  }

  const DraftBody& body_;
  BoundarySets sets_;
  std::vector<int> behind_;                 // by item: the set that its readers wait for
  absl::flat_hash_map<int, int> segments_;  // set -> unit
  UnitAssignment result_;
};

}  // namespace

UnitAssignment AssignUnits(const DraftBody& body) { return UnitAssigner(body).Run(); }

}  // namespace sluice
