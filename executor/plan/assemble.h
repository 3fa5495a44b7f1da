// Builds the arrays of a plan's Body (plan.h) from the items of its draft (draft.h) and the units
// into which they are grouped (units.h).
#ifndef SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
#define SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"
#include "executor/plan/units.h"

namespace sluice {

// Builds the arrays of one body (the root, or a while loop). LinkFrames adds the references to
// other bodies.
Body AssembleBody(const DraftBody& draft, const UnitAssignment& units);
// Adds the references between the bodies, after all bodies were built: the destinations of values
// that go to another frame or iteration (`plan->arrivals`, Body::exits, Body::invariant_units).
void LinkFrames(const Draft& draft, const std::vector<UnitAssignment>& units, Plan* plan);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
