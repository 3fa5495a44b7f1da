// Adds each term of a sum as soon as the term is computed, so that the terms need not be kept.
#ifndef SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
#define SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_

#include "executor/plan/draft.h"

namespace sluice {

// Rewrites the AddN nodes of `body` so that not all terms are in memory at the same time. A sum
// qualifies if its terms are results of AddingKernels (executor/kernel/running_sum.h), have one
// known shape, and are read by no other node. The node of each term then gets the sum of the terms
// before it as an additional input, and returns the sum up to its own term. So the last node
// returns the whole sum. For example, an unrolled recurrent network has such a sum for each weight:
// one gradient per time step. TensorFlow's gradients put Identities between the terms and the sum.
// The Identities are removed, and the sum takes over their control inputs.
//
// Terms can also be joined: one node computes all terms from their operands, and writes each
// element of the sum once. The operands then stay in memory until that node runs. The conditions
// are that AddingKernel::CanJoin holds for all terms, and that the operands of a term are together
// not larger than the sum.
//
// To avoid cycles, the terms are added in topological order. So the last bits of a sum may differ
// from those in the order of AddN's inputs. Returns the number of changed sums.
int AccumulateSums(DraftBody& body, Draft& draft);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_FUSION_ACCUMULATE_SUMS_H_
