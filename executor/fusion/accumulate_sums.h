// Adds the terms of sums as they are computed.
#ifndef SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
#define SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_

#include "executor/plan/draft.h"

namespace sluice {

// Changes sums (AddN) whose terms are results of AddingKernels that no other node reads, all of one
// known shape. Each term is added to the terms before it, and the last term is the sum. So one
// result is in memory instead of all terms. (An unrolled recurrent network sums a gradient per step
// for each of its weights.) Identities between a term and the sum, which TensorFlow's gradients
// have, are removed, and the sum waits for their control inputs.
//
// If all terms are alike and the operands of a term together are not larger than the sum, the sum's
// node computes all terms at once from their operands, which are kept until then. Each element of
// the sum is then written once.
//
// Terms are added in the topological order of their items, which avoids cycles, so that results may
// differ in the last bits from those in the sum's own order. Returns the number of changed sums.
int AccumulateSums(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
