// Joins elementwise items (nodes in the draft of a plan, executor/plan/draft.h) into fusion groups
// (fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_

#include "executor/plan/draft.h"

namespace sluice {

// Forms groups: an elementwise item moves into its reader if it has no other reader. The reader
// must be elementwise or map rows (a softmax), and the shapes of both must not be known to differ.
// The moved items leave the body (DraftItem::is_fused_away). The reader becomes a kFused item, and
// its fusion group is added to the draft.
//
// A cheap item with several elementwise readers is computed in each of their groups, if it reads a
// single tensor that is no larger than its result. The groups then read that tensor, and the item's
// result is never stored. Returns the number of groups.
int FuseElementwise(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
