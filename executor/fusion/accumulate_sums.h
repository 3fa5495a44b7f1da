// Adds each term of a sum as soon as the term is computed, so that the terms need not be kept.
#ifndef SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
#define SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_

#include "executor/plan/draft.h"

namespace sluice {

// Rewrites AddN nodes so that not all terms are in memory at the same time. A sum qualifies if its
// terms are results of AddingKernels (executor/kernel/running_sum.h), have one known shape, and are
// read by no other node. Each term is then computed with the sum of the terms before it as an
// additional input, and the last term is the sum. For example, an unrolled recurrent network has
// such a sum for each weight: one gradient per time step. TensorFlow's gradients put Identities
// between the terms and the sum. The Identities are removed, and the sum takes over their control
// inputs.
//
// If the kernels of all terms can be joined (AddingKernel::CanJoin), and the operands of a term are
// together not larger than the sum, one node computes all terms from their operands and writes each
// element of the sum once. The operands then stay in memory until that node runs.
//
// To avoid cycles, the terms are added in topological order. So the last bits of a sum may differ
// from those in the order of AddN's inputs. Returns the number of changed sums.
int AccumulateSums(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
