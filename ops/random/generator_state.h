// A generator whose state is a variable of int64 numbers: the two words of Philox's counter and its
// key. In an older form, the number of the algorithm precedes them.
//
// Thread safety: the variable's mutex guards the state.
// Errors: NOT_FOUND without a variable, INVALID_ARGUMENT for another type, shape or algorithm.
#ifndef SLUICE_OPS_RANDOM_GENERATOR_STATE_H_
#define SLUICE_OPS_RANDOM_GENERATOR_STATE_H_

#include "executor/kernel/context.h"
#include "ops/random/philox.h"

namespace sluice {

// Returns the generator in the variable of input 0, whose state begins at element `begin` (0, or 1
// after the algorithm). Advances the state by `numbers`.
absl::StatusOr<Philox> TakeFromState(KernelContext& c, int64_t algorithm, int begin,
                                     uint64_t numbers);

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_GENERATOR_STATE_H_
