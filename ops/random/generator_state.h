// A generator whose state is a variable of int64 numbers: the two words of Philox's counter and its
// key. In an older form, the number of the algorithm comes first.
//
// Thread safety: the variable's claim, a lock (executor/wait/claim.h), guards the state.
// Errors: NOT_FOUND if the variable does not exist or has no value; INVALID_ARGUMENT if its type,
// shape or algorithm is wrong.
#ifndef SLUICE_OPS_RANDOM_GENERATOR_STATE_H_
#define SLUICE_OPS_RANDOM_GENERATOR_STATE_H_

#include "executor/kernel/context.h"
#include "ops/random/philox.h"

namespace sluice {

// Returns the generator in the variable of input 0, for `numbers` results. Advances the state in
// the variable, so that later calls do not return the same results. The state begins at element
// `begin` of the variable: 0, or 1 in the older form. `algorithm` is the number of the algorithm
// (ops/random/seeds.h). In the older form, it is read from the variable instead. Takes the claim
// without waiting: if another kernel holds it, returns the status of RunAgainAfter, which the
// kernel must return before it does anything else.
absl::StatusOr<Philox> TakeFromState(KernelContext& c, int64_t algorithm, int begin,
                                     uint64_t numbers);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_GENERATOR_STATE_H_
