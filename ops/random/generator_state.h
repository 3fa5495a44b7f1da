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

// Returns the generator in the variable of input 0. Its state begins at element `begin`: 0, or 1 in
// the older form. Then advances the state so that the next `numbers` results are not drawn again.
absl::StatusOr<Philox> TakeFromState(KernelContext& c, int64_t algorithm, int begin,
                                     uint64_t numbers);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_GENERATOR_STATE_H_
