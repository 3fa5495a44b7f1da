// Which items run together.
#ifndef SLUICE_EXECUTOR_PLAN_UNITS_H_
#define SLUICE_EXECUTOR_PLAN_UNITS_H_

#include <vector>

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"

namespace sluice {

struct Partition {
  struct Members {
    Unit::Kind kind = Unit::Kind::kSegment;
    std::vector<int> items;  // in execution order
    bool may_be_dead = false;
    bool is_expensive = false;
  };
  std::vector<Members> units;
  std::vector<int> unit_of;  // by item
};

// An item is a boundary when it ends at another time than it starts (asynchronous), when its value
// comes from outside (arrival), when it may run before all its inputs are there (Merge of inputs
// that come at different times), or when it is worth a thread of its own (`expensive`, by item).
// Items that wait for the same boundaries become ready at the same time, and form one segment: so
// nothing waits for what it does not depend on, and a body without boundaries is one segment.
Partition PartitionItems(const DraftBody& body, const std::vector<bool>& expensive);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_UNITS_H_
