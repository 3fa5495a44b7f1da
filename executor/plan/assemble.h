// Builds the arrays of a plan's Body from the items of its draft and their units.
#ifndef SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
#define SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"
#include "executor/plan/units.h"

namespace sluice {

// Builds the arrays of one body: nodes, slots, last readers, edges and pending counts. An arrival
// (a value from another frame) is then still an item number. LinkFrames, which needs all bodies,
// replaces it by an index of `plan->arrivals`.
Body AssembleBody(const DraftBody& draft, const UnitAssignment& units);
void LinkFrames(const Draft& draft, const std::vector<UnitAssignment>& units, Plan* plan);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
