// Joins elementwise items of a body into fusion groups.
#ifndef SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_

#include "executor/plan/draft.h"

namespace sluice {

// Moves each elementwise item into the item that reads it, if that is its only reader and is
// elementwise too or maps rows (a softmax), unless their shapes are known to differ. The moved
// items leave the body (DraftItem::is_fused_away). The reader becomes a kFused item, and its fusion
// group is added to the draft.
//
// A cheap item with several elementwise readers is computed in each of their groups, if it reads a
// single tensor that is no larger than its result. The groups then read that tensor, and the item's
// result is never stored. Returns the number of groups.
int FuseElementwise(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
