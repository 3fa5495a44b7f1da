#include "executor/plan/slots.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "absl/types/span.h"

namespace sluice {
namespace {

// A reader in another unit than the producer. A Merge that is a unit reads each input separately.
struct Reader {
  int unit;
  int merge_input;  // -1 for other kinds of units
  bool operator==(const Reader&) const = default;
};

class SlotAssigner {
 public:
  SlotAssigner(const DraftBody& body, const UnitAssignment& units) : body_(body), units_(units) {
    plan_.items.resize(body.items.size());
    plan_.copies.resize(units.units.size());
    outside_.resize(body.items.size());
    used_.resize(body.items.size());
    for (size_t i = 0; i < body.items.size(); ++i) {
      outside_[i].resize(body.items[i].output_types.size());
      used_[i].assign(body.items[i].output_types.size(), false);
    }
  }

  SlotPlan Run() {
    FindReaders();
    PlaceSharedValues();
    for (size_t u = 0; u < units_.units.size(); ++u) PlaceWithin(static_cast<int>(u));
    return std::move(plan_);
  }

 private:
  struct Outside {
    Reader reader;
    uint32_t slot;
  };

  int UnitOf(int item) const { return units_.unit_of[item]; }
  Reader ReaderOf(int item, int input) const {
    const int unit = UnitOf(item);
    const bool merge = units_.units[unit].kind == Unit::Kind::kMerge;
    return {unit, merge ? input : -1};
  }

  void FindReaders() {
    for (size_t i = 0; i < body_.items.size(); ++i) {
      const DraftItem& item = body_.items[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        const DraftInput& in = item.inputs[k];
        if (in.base != ValueRef::kSlot) continue;
        used_[in.item][in.index] = true;
        if (UnitOf(in.item) == UnitOf(static_cast<int>(i))) continue;
        const Reader reader = ReaderOf(static_cast<int>(i), static_cast<int>(k));
        std::vector<Outside>& all = outside_[in.item][in.index];
        const bool known = std::any_of(all.begin(), all.end(),
                                       [&](const Outside& o) { return o.reader == reader; });
        if (!known) all.push_back({reader, 0});
      }
    }
  }

  bool IsShared(int item) const {
    return std::any_of(outside_[item].begin(), outside_[item].end(),
                       [](const auto& readers) { return !readers.empty(); });
  }

  // A handle of a variable, queue or other resource. All units read it in one slot until the step
  // ends. (A value of a node with inputs may be a lock, which its last reader releases.)
  bool IsHandle(int item, int output) const {
    const DataType type = body_.items[item].output_types[output];
    const std::vector<Outside>& readers = outside_[item][output];
    return body_.items[item].inputs.empty() && (type == DT_RESOURCE || IsRefType(type)) &&
           std::none_of(readers.begin(), readers.end(),  // a Merge moves its input
                        [](const Outside& o) { return o.reader.merge_input >= 0; });
  }

  // References have separate slots: a slot for values never holds a reference.
  bool MayRecycle(int item) const {
    const std::vector<DataType>& types = body_.items[item].output_types;
    return !IsShared(item) && std::none_of(types.begin(), types.end(), IsRefType);
  }

  void PlaceSharedValues() {
    for (size_t i = 0; i < body_.items.size(); ++i) {
      if (!IsShared(static_cast<int>(i))) continue;
      const uint32_t first = plan_.num_slots;
      plan_.items[i].first_output = first;
      plan_.num_slots += static_cast<uint32_t>(outside_[i].size());
      for (size_t k = 0; k < outside_[i].size(); ++k) {
        uint32_t slot = first + static_cast<uint32_t>(k);
        const bool is_handle = IsHandle(static_cast<int>(i), static_cast<int>(k));
        if (is_handle) plan_.handles.push_back(slot);
        for (size_t r = 0; r < outside_[i][k].size(); ++r) {
          if (r > 0 && !is_handle) {
            plan_.copies[UnitOf(static_cast<int>(i))].push_back(
                {first + static_cast<uint32_t>(k), plan_.num_slots});
            slot = plan_.num_slots++;
          }
          outside_[i][k][r].slot = slot;
        }
      }
    }
  }

  ValueRef RefOf(int item, int input) const {
    const DraftInput& in = body_.items[item].inputs[input];
    ValueRef ref{in.base, in.is_ref, in.dereference, static_cast<uint32_t>(in.index)};
    if (in.base != ValueRef::kSlot) return ref;
    ref.index = plan_.items[in.item].first_output + static_cast<uint32_t>(in.index);
    if (UnitOf(in.item) == UnitOf(item)) return ref;
    const Reader reader = ReaderOf(item, input);
    for (const Outside& o : outside_[in.item][in.index]) {
      if (o.reader == reader) ref.index = o.slot;
    }
    return ref;
  }

  // Whether the unit may drop the value after its last reader in it.
  bool MayDrop(int item, int input) const {
    const DraftInput& in = body_.items[item].inputs[input];
    if (in.base != ValueRef::kSlot) return false;
    if (UnitOf(in.item) == UnitOf(item)) return outside_[in.item][in.index].empty();
    return !IsHandle(in.item, in.index);
  }

  using Items = absl::Span<const int>;
  // The last reader in a unit, by (producer, output).
  using LastReaders = std::map<std::pair<int, int>, int>;
  struct FreeSlots {
    std::unordered_map<size_t, std::vector<uint32_t>> free;  // blocks of slots, by length
    std::unordered_map<int, int> alive;  // the outputs of an item that are still read
  };

  void PlaceWithin(int unit) {
    const Items items = units_.units[unit].items;
    if (units_.units[unit].kind == Unit::Kind::kMerge) return PlaceMerge(items[0]);
    LastReaders last_readers;
    FindLastReaders(items, &last_readers);
    FreeSlots free_slots;
    if (body_.phases.condition == 0) return Place(items, unit, last_readers, &free_slots);
    // One of the last two phases runs, so neither leaves values to the other.
    const size_t first_true = body_.phases.condition + 1;
    const size_t first_false = body_.phases.first_false;
    const Items condition = items.first(first_true);
    Place(condition, unit, last_readers, &free_slots);
    for (const Items phase :
         {items.subspan(first_true, first_false - first_true), items.subspan(first_false)}) {
      LastReaders last_here;
      FindLastReaders(condition, &last_here);
      FindLastReaders(phase, &last_here);
      FreeSlots free_here = free_slots;
      Place(phase, unit, last_here, &free_here);
    }
  }

  void FindLastReaders(Items items, LastReaders* last_readers) const {
    for (int i : items) {
      const DraftItem& item = body_.items[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        if (!MayDrop(i, static_cast<int>(k))) continue;
        (*last_readers)[{item.inputs[k].item, item.inputs[k].index}] = i;
      }
    }
  }

  void Place(Items items, int unit, const LastReaders& last_readers, FreeSlots* free_slots) {
    for (int i : items) {
      PlaceOutputs(i, &free_slots->free, &free_slots->alive);
      const DraftItem& item = body_.items[i];
      SlotPlan::Item& placed = plan_.items[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        placed.inputs.push_back(RefOf(i, static_cast<int>(k)));
        const DraftInput& in = item.inputs[k];
        if (!MayDrop(i, static_cast<int>(k)) || last_readers.at({in.item, in.index}) != i) continue;
        const auto same = [&](const DraftInput& other) {
          return other.base == in.base && other.item == in.item && other.index == in.index;
        };
        const auto first = std::find_if(item.inputs.begin(), item.inputs.end(), same);
        if (first != item.inputs.begin() + static_cast<int64_t>(k)) {
          continue;  // an earlier input has counted it
        }
        placed.releases.push_back(placed.inputs[k].index);
        if (k < 64 && std::count_if(item.inputs.begin(), item.inputs.end(), same) == 1) {
          placed.movable |= uint64_t{1} << k;
        }
        if (UnitOf(in.item) == unit && MayRecycle(in.item) && --free_slots->alive[in.item] == 0) {
          free_slots->free[outside_[in.item].size()].push_back(plan_.items[in.item].first_output);
        }
      }
    }
  }

  void PlaceOutputs(int i, std::unordered_map<size_t, std::vector<uint32_t>>* free,
                    std::unordered_map<int, int>* alive) {
    SlotPlan::Item& placed = plan_.items[i];
    const size_t n = outside_[i].size();
    if (!IsShared(i) && n > 0) {
      std::vector<uint32_t>& blocks = (*free)[n];
      if (blocks.empty() || !MayRecycle(i)) {
        placed.first_output = plan_.num_slots;
        plan_.num_slots += static_cast<uint32_t>(n);
      } else {
        placed.first_output = blocks.back();
        blocks.pop_back();
      }
    }
    for (size_t k = 0; k < n; ++k) {
      if (used_[i][k]) {
        ++(*alive)[i];
      } else {
        placed.releases.push_back(placed.first_output + static_cast<uint32_t>(k));
      }
    }
    if (MayRecycle(i) && n > 0 && (*alive)[i] == 0) (*free)[n].push_back(placed.first_output);
  }

  void PlaceMerge(int i) {
    SlotPlan::Item& placed = plan_.items[i];
    if (!IsShared(i)) {
      placed.first_output = plan_.num_slots;
      plan_.num_slots += static_cast<uint32_t>(outside_[i].size());
    }
    for (size_t k = 0; k < body_.items[i].inputs.size(); ++k) {
      placed.inputs.push_back(RefOf(i, static_cast<int>(k)));
    }
    for (size_t k = 0; k < outside_[i].size(); ++k) {
      if (!used_[i][k]) placed.releases.push_back(placed.first_output + static_cast<uint32_t>(k));
    }
  }

  const DraftBody& body_;
  const UnitAssignment& units_;
  SlotPlan plan_;
  std::vector<std::vector<std::vector<Outside>>> outside_;  // by item and output
  std::vector<std::vector<bool>> used_;                     // by item and output
};

}  // namespace

SlotPlan AssignSlots(const DraftBody& body, const UnitAssignment& units) {
  return SlotAssigner(body, units).Run();
}

}  // namespace sluice
