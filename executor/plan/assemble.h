// Assembles the arrays of a Body from items and units: slots, last readers, edges, pending counts.
#ifndef SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
#define SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_

#include "executor/plan/draft.h"
#include "executor/plan/plan.h"
#include "executor/plan/units.h"

namespace sluice {

// The arrays of a body. Its arrivals are item numbers, which LinkFrames replaces by indices of
// `plan->arrivals`.
Body AssembleBody(const DraftBody& draft, const UnitAssignment& units);
void LinkFrames(const Draft& draft, const std::vector<UnitAssignment>& units, Plan* plan);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ASSEMBLE_H_
