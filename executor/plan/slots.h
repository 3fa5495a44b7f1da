// Assigns the values of a body to slots, the memory cells of a running body (plan.h), and finds the
// last reader of each value.
#ifndef SLUICE_EXECUTOR_PLAN_SLOTS_H_
#define SLUICE_EXECUTOR_PLAN_SLOTS_H_

#include <cstdint>
#include <vector>

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"
#include "executor/plan/units.h"

namespace sluice {

struct SlotPlan {
  struct Item {
    uint32_t first_output = 0;
    std::vector<ValueRef> inputs;
    std::vector<uint32_t> releases;
    uint64_t movable = 0;  // bit i: the item may take over input i
  };
  std::vector<Item> items;                    // by number in DraftBody::items
  std::vector<std::vector<SlotCopy>> copies;  // by unit: copies to make when the unit ends
  std::vector<uint32_t> handles;  // slots of handles and references, kept for a whole step
  uint32_t num_slots = 0;
};

// Assigns a slot to each value by these rules. A value that only its own unit reads shares its slot
// with earlier and later values of that unit. A value that other units read gets a slot for each of
// them, because their order is not known: the first unit gets the original, the others get copies.
// A handle or reference that a node without inputs returns has one slot for all readers, unless a
// Merge unit reads it.
SlotPlan AssignSlots(const DraftBody& body, const UnitAssignment& units);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_SLOTS_H_
