// Joins elementwise items of a body into fusion groups.
#ifndef SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
#define SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_

#include "executor/plan/draft.h"

namespace sluice {

// Joins elementwise items with their only reader, which is elementwise too or maps rows (a
// softmax), unless their shapes are known to differ. The joined items leave the body
// (DraftItem::is_fused_away). The reader becomes a kFused item, whose group is added to the draft.
//
// Cheap items that are computed from one tensor no larger than their result, and that only
// elementwise items read, are recomputed in each group that reads them: the groups read the tensor
// instead of the item's result. Returns the number of groups.
int FuseElementwise(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSE_ELEMENTWISE_H_
