// The rows of a tensor in random order: what RandomShuffle and its stateless form share.
#ifndef SLUICE_OPS_RANDOM_SHUFFLE_H_
#define SLUICE_OPS_RANDOM_SHUFFLE_H_

#include "absl/functional/function_ref.h"
#include "executor/kernel/context.h"
#include "ops/random/philox.h"

namespace sluice::random {

// Output 0 from input 0. `generator` is asked with the number of calls that the order takes, unless
// there is nothing to shuffle.
absl::Status ShuffleRows(KernelContext& context, absl::FunctionRef<Philox(uint64_t)> generator);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SHUFFLE_H_
