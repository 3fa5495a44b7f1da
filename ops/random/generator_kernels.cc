#include "executor/kernel/context.h"
#include "ops/random/generator_state.h"
#include "ops/random/seeds.h"

namespace sluice {
namespace {

// Advances the generator in the variable of input 0 by input 2. Returns the generator's previous
// state.
template <typename Algorithm, typename Delta>
absl::StatusOr<Philox> Skip(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(random::CheckScalar(c.input(1), 1));
  SLUICE_RETURN_IF_ERROR(random::CheckScalar(c.input(2), 2));
  return TakeFromState(c, c.input(1).scalar<Algorithm>(), 0,
                       static_cast<uint64_t>(c.input(2).scalar<Delta>()));
}

absl::Status RngSkip(KernelContext& c) { return Skip<int64_t, int64_t>(c).status(); }
KERNEL(RngSkip, FunctionKernel<RngSkip>);

absl::Status RngReadAndSkip(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox before, (Skip<int32_t, uint64_t>(c)));
  const random::CounterWords words = random::CounterOf(before);
  c.set_output(
      0, Tensor::Vector<int64_t>({static_cast<int64_t>(words.low), static_cast<int64_t>(words.high),
                                  static_cast<int64_t>(random::KeyOf(before))}));
  return absl::OkStatus();
}
KERNEL(RngReadAndSkip, FunctionKernel<RngReadAndSkip>);

// Sets the outputs key and counter, and output alg if the op has it.
absl::Status KeyAndCounter(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Philox generator, random::FromSeed(c.input(0)));
  const random::CounterWords words = random::CounterOf(generator);
  c.set_output(0, Tensor::Vector<uint64_t>({random::KeyOf(generator)}));
  c.set_output(1, Tensor::Vector<uint64_t>({words.low, words.high}));
  if (c.num_outputs() > 2) {
    c.set_output(2, Tensor::Scalar(static_cast<int32_t>(random::kPhiloxAlgorithm)));
  }
  return absl::OkStatus();
}
KERNEL(StatelessRandomGetKeyCounter, CheapFunctionKernel<KeyAndCounter>);
KERNEL(StatelessRandomGetKeyCounterAlg, CheapFunctionKernel<KeyAndCounter>);

absl::Status Algorithm(KernelContext& c) {
  c.set_output(0, Tensor::Scalar(static_cast<int32_t>(random::kPhiloxAlgorithm)));
  return absl::OkStatus();
}
KERNEL(StatelessRandomGetAlg, CheapFunctionKernel<Algorithm>);

}  // namespace
}  // namespace sluice
