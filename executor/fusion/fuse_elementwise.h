// Joins elementwise items (nodes in the draft of a plan, executor/plan/draft.h) into fusion groups,
// whose members run as one node (fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_

#include "executor/plan/draft.h"

namespace sluice {

// Forms the groups of `body`: an elementwise item joins a group if all its readers are in this
// group. The last item of a group may also map rows (a softmax). The shapes of an item and its
// readers must not be known to differ. The last item becomes a kFused item, and the group is added
// to the draft. The other items leave the body (DraftItem::is_fused_away).
//
// A cheap item with several elementwise readers is computed in each of their groups, if it reads a
// single tensor that is no larger than its result. The groups then read that tensor, and the item's
// result is never stored. Returns the number of groups.
int FuseElementwise(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
