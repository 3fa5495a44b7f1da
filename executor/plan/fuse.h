// Which items of a body run as one.
#ifndef SLUICE_EXECUTOR_PLAN_FUSE_H_
#define SLUICE_EXECUTOR_PLAN_FUSE_H_

#include <memory>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// Joins elementwise items with the one that alone reads what becomes of them, elementwise too or
// made of its rows (a softmax), so far as their shapes are not known to differ. What is joined
// disappears from `body` (DraftItem::is_fused_away); the reader becomes of kind kFused, which of
// `fused`, by `aux`. Cheap items that are made of one tensor, no larger than their result, and that
// elementwise items alone read, are computed anew in each group that reads them: the tensor is read
// in place of what they would store.
void FuseElementwise(DraftBody& body, std::vector<std::shared_ptr<const FusedElementwise>>* fused);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_FUSE_H_
