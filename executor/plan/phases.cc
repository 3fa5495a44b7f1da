#include "executor/plan/phases.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sluice {
namespace {

enum class Phase : uint8_t { kCondition, kSwitch, kTrue, kFalse };

// Finds the phase in which each item of a body runs.
class PhaseFinder {
 public:
  PhaseFinder(const DraftBody& body, const std::vector<int>& loops, const std::vector<bool>& phased)
      : body_(body),
        loops_(loops),
        phased_(phased),
        phases_(body.items.size(), Phase::kCondition) {}

  bool Run() {
    return std::all_of(body_.order.begin(), body_.order.end(), [&](int i) { return Place(i); }) &&
           condition_ >= 0 && has_variable_ && OnlySwitchesUseCondition();
  }
  const std::vector<Phase>& phases() const { return phases_; }
  int condition() const { return condition_; }

 private:
  Phase PhaseFrom(const DraftInput& in) const {
    const Phase from = phases_[in.item];
    if (from != Phase::kSwitch) return from;
    return in.index == 1 ? Phase::kTrue : Phase::kFalse;
  }

  // The phase in which the item can run because of its inputs. Nullopt if these are never available
  // together.
  std::optional<Phase> PhaseOf(const DraftItem& item) const {
    bool needs_true = false, needs_false = false;
    const auto needs = [&](Phase phase) {
      needs_true |= phase == Phase::kTrue;
      needs_false |= phase == Phase::kFalse;
    };
    for (const DraftInput& in : item.inputs) {
      if (in.item < 0) continue;
      // Only the Merge knows whether a variable has its first value.
      if (body_.items[in.item].kind == OpKind::kLoopVariable && in.index != 0) return std::nullopt;
      needs(PhaseFrom(in));
    }
    for (int from : item.controls) needs(phases_[from]);
    if (needs_true && needs_false) return std::nullopt;
    return needs_true ? Phase::kTrue : needs_false ? Phase::kFalse : Phase::kCondition;
  }

  bool Place(int i) {
    const DraftItem& item = body_.items[i];
    const std::optional<Phase> phase = PhaseOf(item);
    if (!phase) return false;
    phases_[i] = *phase;
    switch (item.kind) {
      case OpKind::kSwitch:
        return PlaceSwitch(i);
      case OpKind::kLoopVariable:
        has_variable_ = true;
        return true;
      case OpKind::kCarry:
        return *phase == Phase::kTrue && !item.inputs[0].is_ref;  // it carries the value itself
      case OpKind::kLeave:
        return *phase == Phase::kFalse;
      case OpKind::kLoop:
        return phased_[loops_[item.aux]];
      case OpKind::kMerge:
      case OpKind::kControlTrigger:
        return false;
      default:
        return true;
    }
  }

  bool PlaceSwitch(int i) {
    const DraftItem& item = body_.items[i];
    const int condition = item.inputs[1].item;
    if (phases_[i] != Phase::kCondition || item.output_types.size() != 2 || condition < 0 ||
        !IsCondition(body_.items[condition]) || item.inputs[0].is_ref ||
        (condition_ >= 0 && condition_ != condition)) {
      return false;
    }
    condition_ = condition;
    phases_[i] = Phase::kSwitch;
    return true;
  }

  static bool IsCondition(const DraftItem& item) {
    return item.kind == OpKind::kPass && item.output_types[0] == DT_BOOL && !item.inputs[0].is_ref;
  }

  bool OnlySwitchesUseCondition() const {
    return std::all_of(body_.order.begin(), body_.order.end(), [&](int i) {
      const DraftItem& item = body_.items[i];
      return phases_[i] == Phase::kSwitch ||
             (std::none_of(item.inputs.begin(), item.inputs.end(),
                           [&](const DraftInput& in) { return in.item == condition_; }) &&
              std::count(item.controls.begin(), item.controls.end(), condition_) == 0);
    });
  }

  const DraftBody& body_;
  const std::vector<int>& loops_;
  const std::vector<bool>& phased_;
  std::vector<Phase> phases_;
  int condition_ = -1;  // of the Switches
  bool has_variable_ = false;
};

// Whether the item only passes its input on, in an order of phases.
bool Passes(const DraftBody& body, int condition, int i) {
  const DraftItem& item = body.items[i];
  return item.kind == OpKind::kSwitch ||
         (item.kind == OpKind::kPass && i != condition && !item.inputs[0].is_ref);
}

// Lets the item read constants directly, and the inputs of items that only pass them on. Those
// items were changed before, so one bypass per input is enough.
void BypassInputs(const DraftBody& body, int condition, DraftItem& item) {
  for (DraftInput& in : item.inputs) {
    if (in.item < 0) continue;
    const DraftItem& from = body.items[in.item];
    if (from.kind == OpKind::kConstant) {
      in = {ValueRef::kConstant, from.aux};
    } else if (Passes(body, condition, in.item)) {
      in = from.inputs[0];
    }
  }
}

// Bypassed items and constants are not in the order and read nothing.
void ClearOthers(DraftBody& body) {
  std::vector<bool> runs(body.items.size(), false);
  for (int i : body.order) runs[i] = true;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i]) body.items[i].inputs.clear();
  }
}

}  // namespace

std::optional<DraftBody> InPhases(const DraftBody& body, const std::vector<int>& loops,
                                  const std::vector<bool>& phased) {
  PhaseFinder finder(body, loops, phased);
  if (!finder.Run()) return std::nullopt;
  DraftBody result = body;
  result.order.clear();
  for (DraftItem& item : result.items) {
    item.controls.clear();  // the order respects them
    item.may_be_dead = false;
  }
  std::vector<int> order[2];  // the items that need the condition true, and false
  for (int i : body.order) {
    DraftItem& item = result.items[i];
    BypassInputs(result, finder.condition(), item);
    if (Passes(result, finder.condition(), i) || item.kind == OpKind::kConstant ||
        i == finder.condition())
      continue;
    const Phase phase = finder.phases()[i];
    if (phase == Phase::kCondition) {
      result.order.push_back(i);
    } else {
      order[phase == Phase::kTrue ? 0 : 1].push_back(i);
    }
  }
  const auto put_first = [&](std::vector<int>& items, auto is_first) {
    return static_cast<uint32_t>(
        std::stable_partition(items.begin(), items.end(),
                              [&](int i) { return is_first(result.items[i].kind); }) -
        items.begin());
  };
  result.phases.num_variables =
      put_first(result.order, [](OpKind kind) { return kind == OpKind::kLoopVariable; });
  result.phases.condition = static_cast<uint32_t>(result.order.size());
  result.order.push_back(finder.condition());
  result.phases.first_carry = result.phases.condition + 1 + put_first(order[0], [](OpKind kind) {
                                return kind != OpKind::kCarry;
                              });
  result.order.insert(result.order.end(), order[0].begin(), order[0].end());
  result.phases.first_false = static_cast<uint32_t>(result.order.size());
  result.order.insert(result.order.end(), order[1].begin(), order[1].end());
  ClearOthers(result);
  return result;
}

}  // namespace sluice
