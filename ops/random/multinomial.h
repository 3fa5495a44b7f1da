// Draws class numbers from rows of logits: what Multinomial and its stateless form share.
#ifndef SLUICE_OPS_RANDOM_MULTINOMIAL_H_
#define SLUICE_OPS_RANDOM_MULTINOMIAL_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/random/philox.h"

namespace sluice::random {

// Output 0 from input 0 (logits) and input 1 (number of samples). `generator` is asked once the
// inputs are checked, with the number of results that may be drawn.
absl::Status DrawClasses(KernelContext& context,
                         absl::FunctionRef<absl::StatusOr<Philox>(int64_t)> generator);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_MULTINOMIAL_H_
