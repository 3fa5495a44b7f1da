// Divides the body of a simple loop into phases, so that a run checks no node for deadness and
// passes no value through Switch, Identity and LoopCond.
#ifndef SLUICE_EXECUTOR_PLAN_PHASES_H_
#define SLUICE_EXECUTOR_PLAN_PHASES_H_

#include <optional>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// None if the body cannot be divided: all its Switches must read one LoopCond, which must be true
// for every NextIteration and false for every Exit, and no other node may be dead while no input of
// the loop is. `phased` says which inner loops have phases.
std::optional<DraftBody> InPhases(const DraftBody& body, const std::vector<int>& loops,
                                  const std::vector<bool>& phased);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PHASES_H_
