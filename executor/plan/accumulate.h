// Sums whose terms are added as they are computed.
#ifndef SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_
#define SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_

#include <memory>
#include <vector>

#include "executor/plan/draft.h"

namespace sluice {

// A sum of which all terms are AddingKernels' results that nobody else reads, of one known shape:
// each term is added to those before it, and the last one is the sum. So one result is in memory in
// place of all of them. (An unrolled recurrent network sums a gradient a step for each of its
// weights.) Identities between a term and the sum, which TensorFlow's gradients have, go away; what
// they waited for the sum waits for.
//
// Another way, in which all stays but for who computes: where the operands of a term are together
// not larger than the sum, and all terms are alike, the sum's node makes them all at once from the
// operands, which are kept until then: each element of the sum is written once. The kernels of such
// sums are appended to `kernels`.
//
// Terms are added in the topological order of their items, so that no cycle comes up; results may
// differ in the last digit from those of the sum's own order.
void AccumulateSums(DraftBody& body, std::vector<std::shared_ptr<Kernel>>* kernels);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_ACCUMULATE_H_
