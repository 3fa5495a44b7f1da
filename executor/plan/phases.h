// The body of a simple loop in phases, so that a run looks at no dead node, and passes no value
// through Switch, Identity and LoopCond.
#ifndef SLUICE_EXECUTOR_PLAN_PHASES_H_
#define SLUICE_EXECUTOR_PLAN_PHASES_H_

#include <optional>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// None where the body does not fall into phases: its Switches have to go by one LoopCond, which
// every NextIteration needs true and every Exit false; and while nothing that comes in is dead, no
// other node may be. `phased`: of all bodies, those of loops inside have been found.
std::optional<DraftBody> InPhases(const DraftBody& body, const std::vector<int>& loops,
                                  const std::vector<bool>& phased);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PHASES_H_
