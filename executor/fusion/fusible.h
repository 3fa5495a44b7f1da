// Decides from known shapes whether an item (a node in the draft of a plan, executor/plan/draft.h)
// can be a member of a fusion group, and in which form.
#ifndef SLUICE_EXECUTOR_FUSION_FUSIBLE_H_
#define SLUICE_EXECUTOR_FUSION_FUSIBLE_H_

#include "absl/container/inlined_vector.h"
#include "executor/fusion/fused_elementwise.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/row_kernel.h"
#include "executor/plan/draft.h"

namespace sluice {

// Returns false if the operand's shape is known to differ from that of the result. A scalar operand
// is compatible with every result.
bool IsCompatible(const PartialShape& operand, const PartialShape& result);

// Sets DraftItem::is_scalar_loop of the items whose kernels only run elementwise loops and whose
// result may be a scalar. The executor computes scalars without a call of the kernel.
void MarkScalarLoops(DraftBody& body);

// The form in which a group computes an item: by loops, by rows as its last member, or not at all.
struct Membership {
  const ElementwiseLoops* loops = nullptr;
  const RowKernel* rows = nullptr;
  absl::InlinedVector<BroadcastKind, 2> broadcast;  // by operand
  explicit operator bool() const { return loops != nullptr || rows != nullptr; }
};
// Returns the form of the item. It converts to false if the item cannot be a member.
Membership MembershipOf(const DraftItem& item);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_FUSIBLE_H_
