// Where the values of a body lie, and who reads each place last.
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
    uint64_t movable = 0;
  };
  std::vector<Item> items;                    // by item
  std::vector<std::vector<SlotCopy>> copies;  // by unit: made when it ends
  std::vector<uint32_t> handles;              // slots that are kept until the step ends
  uint32_t num_slots = 0;
};

// A value that is read in its own unit only shares its slot with others of that unit, before and
// after. A value that other units read has a slot for each of them (the first takes the original,
// the others copies), because nothing is known of the order in which they run. A handle has one
// slot for all.
SlotPlan AssignSlots(const DraftBody& body, const Partition& partition);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_SLOTS_H_
