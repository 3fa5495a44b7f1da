// What an item may be in a group of elementwise nodes, so far as shapes are known.
#ifndef SLUICE_EXECUTOR_PLAN_FUSIBLE_H_
#define SLUICE_EXECUTOR_PLAN_FUSIBLE_H_

#include "absl/container/inlined_vector.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/kernel/row_kernel.h"
#include "executor/plan/draft.h"
#include "executor/plan/fused_elementwise.h"

namespace sluice {

// False where the shapes are known to differ; a scalar goes with everything.
bool MayMeet(const PartialShape& operand, const PartialShape& result);

// A kernel that does nothing but its loops, on operands that do not broadcast as far as is known,
// but for one that meets the other's last dimensions again and again (a bias), or has one element a
// row (a mean); null for other items.
ElementwiseLoopKernel* LoopKernelOf(const DraftItem& item);

// How a group computes an item: by loops, or as its last by rows; or not at all.
struct Membership {
  const ElementwiseLoops* loops = nullptr;
  const RowKernel* rows = nullptr;
  absl::InlinedVector<Meets, 2> meets;  // by operand
  explicit operator bool() const { return loops != nullptr || rows != nullptr; }
};
Membership MembershipOf(const DraftItem& item);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_FUSIBLE_H_
