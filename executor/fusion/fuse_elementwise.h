// Joins elementwise items of a body into fusion groups (fused_elementwise.h).
#ifndef SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_

#include "executor/plan/draft.h"

namespace sluice {

// Forms groups: an elementwise item moves into the item that reads it. The conditions are that it
// has no other reader, that the reader is elementwise or maps rows (a softmax), and that their
// shapes are not known to differ. The moved items leave the body (DraftItem::is_fused_away). The
// reader becomes a kFused item, and its fusion group is added to the draft.
//
// A cheap item with several elementwise readers is computed in each of their groups, if it reads a
// single tensor that is no larger than its result. The groups then read that tensor, and the item's
// result is never stored. Returns the number of groups.
int FuseElementwise(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
