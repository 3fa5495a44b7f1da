// Divides the body of a simple loop into phases, so that a run checks no node for deadness and
// passes no value through Switch, Identity and LoopCond.
#ifndef SLUICE_EXECUTOR_PLAN_PHASES_H_
#define SLUICE_EXECUTOR_PLAN_PHASES_H_

#include <optional>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// Returns the divided body, or nullopt if it cannot be divided. The conditions are:
//   1. All Switches of the body read one LoopCond, which no other node reads.
//   2. Every NextIteration is on the true branch of a Switch, and every Exit on the false branch.
//   3. If no input of the loop is dead, no other node of the body can be dead.
//   4. All loops inside the body have phases.
// `loops` has the bodies of the simple loops (Draft::loops). phased[b] says whether body b has
// phases.
std::optional<DraftBody> InPhases(const DraftBody& body, const std::vector<int>& loops,
                                  const std::vector<bool>& phased);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PHASES_H_
