#include "executor/plan/slots.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace sluice {
namespace {

// A reader in another unit than the producer. A Merge that is a unit reads each input separately.
struct Reader {
  int unit;
  int merge_input;  // -1 for other kinds of units
  bool operator==(const Reader&) const = default;
};

// The readers of one output in other units, in order of their items, and the slots they read.
class Readers {
 public:
  struct Outside {
    Reader reader;
    uint32_t slot;
  };

  bool empty() const { return all_.empty(); }
  std::vector<Outside>& all() { return all_; }
  const std::vector<Outside>& all() const { return all_; }

  void Add(Reader reader) {
    if (Find(reader) != nullptr) return;
    if (all_.size() >= kFew) positions_[KeyOf(reader)] = all_.size();
    all_.push_back({reader, 0});
  }
  // Null if it is no reader.
  const Outside* Find(Reader reader) const {
    const size_t few = std::min(all_.size(), kFew);
    for (size_t i = 0; i < few; ++i) {
      if (all_[i].reader == reader) return &all_[i];
    }
    const auto it = positions_.find(KeyOf(reader));
    return it == positions_.end() ? nullptr : &all_[it->second];
  }

 private:
  // So many are compared one by one. A value may have as many readers as a graph has nodes.
  static constexpr size_t kFew = 8;
  static std::pair<int, int> KeyOf(Reader reader) { return {reader.unit, reader.merge_input}; }

  std::vector<Outside> all_;
  absl::flat_hash_map<std::pair<int, int>, size_t> positions_;  // of those behind the first few
};

class SlotAssigner {
 public:
  SlotAssigner(const DraftBody& body, const UnitAssignment& units) : body_(body), units_(units) {
    plan_.items.resize(body.items.size());
    plan_.copies.resize(units.units.size());
    alive_.resize(body.items.size());
    first_.reserve(body.items.size() + 1);
    size_t outputs = 0;
    for (const DraftItem& item : body.items) {
      first_.push_back(outputs);
      outputs += item.output_types.size();
    }
    first_.push_back(outputs);
    outside_.resize(outputs);
    used_.resize(outputs);
    last_readers_.resize(outputs);
  }

  SlotPlan Run() {
    FindReaders();
    PlaceSharedValues();
    for (size_t u = 0; u < units_.units.size(); ++u) PlaceWithin(static_cast<int>(u));
    return std::move(plan_);
  }

 private:
  using Outside = Readers::Outside;

  size_t Number(const DraftInput& in) const { return first_[in.item] + in.index; }
  absl::Span<const Readers> ReadersOf(int item) const {
    return absl::MakeConstSpan(outside_).subspan(first_[item], NumOutputs(item));
  }
  size_t NumOutputs(int item) const { return first_[item + 1] - first_[item]; }
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
        used_[Number(in)] = true;
        if (UnitOf(in.item) == UnitOf(static_cast<int>(i))) continue;
        outside_[Number(in)].Add(ReaderOf(static_cast<int>(i), static_cast<int>(k)));
      }
    }
  }

  bool IsShared(int item) const {
    const absl::Span<const Readers> outputs = ReadersOf(item);
    return std::any_of(outputs.begin(), outputs.end(),
                       [](const Readers& readers) { return !readers.empty(); });
  }

  // A handle of a variable, queue or other resource. All units read it in one slot until the step
  // ends. (A value of a node with inputs may be a lock, which its last reader releases.)
  bool IsHandle(int item, int output) const {
    const DataType type = body_.items[item].output_types[output];
    const std::vector<Outside>& readers = ReadersOf(item)[output].all();
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
      plan_.num_slots += static_cast<uint32_t>(NumOutputs(static_cast<int>(i)));
      for (size_t k = 0; k < NumOutputs(static_cast<int>(i)); ++k) {
        std::vector<Outside>& readers = outside_[first_[i] + k].all();
        uint32_t slot = first + static_cast<uint32_t>(k);
        const bool is_handle = IsHandle(static_cast<int>(i), static_cast<int>(k));
        if (is_handle) plan_.handles.push_back(slot);
        for (size_t r = 0; r < readers.size(); ++r) {
          if (r > 0 && !is_handle) {
            plan_.copies[UnitOf(static_cast<int>(i))].push_back(
                {first + static_cast<uint32_t>(k), plan_.num_slots});
            slot = plan_.num_slots++;
          }
          readers[r].slot = slot;
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
    const Outside* outside = outside_[Number(in)].Find(ReaderOf(item, input));
    if (outside != nullptr) ref.index = outside->slot;
    return ref;
  }

  // Whether the unit may drop the value after its last reader in it.
  bool MayDrop(int item, int input) const {
    const DraftInput& in = body_.items[item].inputs[input];
    if (in.base != ValueRef::kSlot) return false;
    if (UnitOf(in.item) == UnitOf(item)) return outside_[Number(in)].empty();
    return !IsHandle(in.item, in.index);
  }

  using Items = absl::Span<const int>;
  // Blocks of slots, by length.
  using FreeSlots = std::unordered_map<size_t, std::vector<uint32_t>>;

  void PlaceWithin(int unit) {
    const Items items = units_.units[unit].items;
    if (units_.units[unit].kind == Unit::Kind::kMerge) return PlaceMerge(items[0]);
    FindLastReaders(items);
    FreeSlots free_slots;
    if (body_.phases.condition == 0) return Place(items, unit, &free_slots);
    // One of the last two phases runs, so neither leaves values to the other.
    const size_t first_true = body_.phases.condition + 1;
    const size_t first_false = body_.phases.first_false;
    const Items condition = items.first(first_true);
    Place(condition, unit, &free_slots);
    std::vector<int> alive;
    for (const int i : condition) alive.push_back(alive_[i]);
    for (const Items phase :
         {items.subspan(first_true, first_false - first_true), items.subspan(first_false)}) {
      for (size_t i = 0; i < condition.size(); ++i) alive_[condition[i]] = alive[i];
      FindLastReaders(phase);
      FreeSlots free_here = free_slots;
      Place(phase, unit, &free_here);
    }
  }

  void FindLastReaders(Items items) {
    for (int i : items) {
      const DraftItem& item = body_.items[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        if (MayDrop(i, static_cast<int>(k))) last_readers_[Number(item.inputs[k])] = i;
      }
    }
  }

  void Place(Items items, int unit, FreeSlots* free_slots) {
    for (int i : items) {
      PlaceOutputs(i, free_slots);
      const DraftItem& item = body_.items[i];
      SlotPlan::Item& placed = plan_.items[i];
      for (size_t k = 0; k < item.inputs.size(); ++k) {
        placed.inputs.push_back(RefOf(i, static_cast<int>(k)));
        const DraftInput& in = item.inputs[k];
        if (!MayDrop(i, static_cast<int>(k)) || last_readers_[Number(in)] != i) continue;
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
        if (UnitOf(in.item) == unit && MayRecycle(in.item) && --alive_[in.item] == 0) {
          (*free_slots)[NumOutputs(in.item)].push_back(plan_.items[in.item].first_output);
        }
      }
    }
  }

  void PlaceOutputs(int i, FreeSlots* free) {
    SlotPlan::Item& placed = plan_.items[i];
    const size_t n = NumOutputs(i);
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
      if (used_[first_[i] + k]) {
        ++alive_[i];
      } else {
        placed.releases.push_back(placed.first_output + static_cast<uint32_t>(k));
      }
    }
    if (MayRecycle(i) && n > 0 && alive_[i] == 0) (*free)[n].push_back(placed.first_output);
  }

  void PlaceMerge(int i) {
    SlotPlan::Item& placed = plan_.items[i];
    if (!IsShared(i)) {
      placed.first_output = plan_.num_slots;
      plan_.num_slots += static_cast<uint32_t>(NumOutputs(i));
    }
    for (size_t k = 0; k < body_.items[i].inputs.size(); ++k) {
      placed.inputs.push_back(RefOf(i, static_cast<int>(k)));
    }
    for (size_t k = 0; k < NumOutputs(i); ++k) {
      if (!used_[first_[i] + k])
        placed.releases.push_back(placed.first_output + static_cast<uint32_t>(k));
    }
  }

  const DraftBody& body_;
  const UnitAssignment& units_;
  SlotPlan plan_;
  std::vector<size_t> first_;  // by item: the number of its first output; and that of all outputs
  std::vector<Readers> outside_;   // by number of the output
  std::vector<bool> used_;         // by number of the output
  std::vector<int> last_readers_;  // in the unit or phase being placed, by number of the output
  std::vector<int> alive_;         // by item: its placed outputs that are still read
};

}  // namespace

SlotPlan AssignSlots(const DraftBody& body, const UnitAssignment& units) {
  return SlotAssigner(body, units).Run();
}

}  // namespace sluice
