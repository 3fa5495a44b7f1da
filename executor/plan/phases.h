// Divides the body of a simple loop into phases (LoopPhases in plan.h), so that a run of the loop
// does not check whether nodes are dead, and passes no value through Switch and Identity.
#ifndef SLUICE_EXECUTOR_PLAN_PHASES_H_
#define SLUICE_EXECUTOR_PLAN_PHASES_H_

#include <optional>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// Returns the divided body, or nullopt if it cannot be divided. The conditions are:
//   1. All Switches of the body read one LoopCond, which no other node reads. No Switch is on a
//      branch of another one.
//   2. Every NextIteration is on the true branch of a Switch, and every Exit on the false branch.
//   3. No node waits for nodes of both branches.
//   4. The body has no ControlTrigger, and no Merge except those of the loop variables. No node
//      reads output 1 of these Merges.
//   5. The inputs that Switch, LoopCond and NextIteration pass on are not references.
//   6. All loops inside the body have phases.
// `loops` has the bodies of the simple loops (Draft::loops). phased[b] says whether body b has
// phases.
std::optional<DraftBody> InPhases(const DraftBody& body, const std::vector<int>& loops,
                                  const std::vector<bool>& phased);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PHASES_H_
