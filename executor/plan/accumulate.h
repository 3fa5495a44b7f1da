// Sums whose terms are added as they are computed.
#ifndef SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_
#define SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_

#include "executor/plan/draft.h"

namespace sluice {

// A sum of which all terms are AddingKernels' results that nobody else reads, of one known shape:
// each term is added to those before it, and the last one is the sum. So one result is in memory in
// place of all of them. (An unrolled recurrent network sums a gradient a step for each of its
// weights.) Identities between a term and the sum, which TensorFlow's gradients have, go away; what
// they waited for the sum waits for.
//
// Terms are added in the topological order of their items, so that no cycle comes up; results may
// differ in the last digit from those of the sum's own order.
void AccumulateSums(DraftBody& body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_
