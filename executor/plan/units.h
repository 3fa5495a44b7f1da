// Groups the items of a body (draft.h) into units, which run as a whole.
#ifndef SLUICE_EXECUTOR_PLAN_UNITS_H_
#define SLUICE_EXECUTOR_PLAN_UNITS_H_

#include <vector>

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"

namespace sluice {

struct UnitAssignment {
  struct Members {
    Unit::Kind kind = Unit::Kind::kSegment;
    std::vector<int> items;  // in execution order
    bool may_be_dead = false;
  };
  std::vector<Members> units;
  std::vector<int> unit_of;  // by item
};

// Groups the items of a body by the boundaries for which they wait, directly or indirectly. An item
// is a boundary if:
//   1. it is asynchronous,
//   2. its value comes from another frame or iteration (arrival),
//   3. it may run before all its inputs are available (a Merge whose inputs arrive at different
//      times), or
//   4. it waits for more than 32 boundaries, because the sets of boundaries must stay small.
// Items that wait for the same boundaries become ready at the same time and form one segment. So no
// item waits for a boundary that it does not depend on, and a body without boundaries is one
// segment.
UnitAssignment AssignUnits(const DraftBody& body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_UNITS_H_
