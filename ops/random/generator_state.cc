#include "ops/random/generator_state.h"

#include <memory>
#include <mutex>

#include "ops/random/seeds.h"
#include "ops/state/variable_resource.h"

namespace sluice {

absl::StatusOr<Philox> TakeFromState(KernelContext& c, int64_t algorithm, int begin,
                                     uint64_t numbers) {
  SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<Var> variable, LookupVariable(c, 0));
  std::unique_lock lock(variable->claim, std::try_to_lock);
  if (!lock) return RunAgainAfter(c, variable);
  Tensor& state = variable->tensor;
  if (!variable->is_initialized) return VariableNotFound(c, 0, *variable);
  SLUICE_INVALID_IF(state.dtype() != DT_INT64, "dtype of RNG state variable must be int64, not ",
                    DataTypeName(state.dtype()));
  SLUICE_INVALID_IF(state.rank() != 1, "RNG state must have one and only one dimension, not ",
                    state.rank());
  if (begin == 1) {
    SLUICE_INVALID_IF(state.num_elements() < 1, "Size of tensor must be at least 1");
    algorithm = state.data<int64_t>()[0];
  }
  SLUICE_INVALID_IF(algorithm != random::kPhiloxAlgorithm && algorithm != random::kAnyAlgorithm,
                    "Unsupported algorithm id: ", algorithm);
  SLUICE_INVALID_IF(state.num_elements() < begin + 3,
                    "For the Philox algorithm, the size of state must be at least ", begin + 3,
                    "; got ", state.num_elements());
  SLUICE_RETURN_IF_ERROR(MakeWritable(&state, *c.step().allocator));
  int64_t* words = state.data<int64_t>() + begin;
  const Philox taken =
      random::FromWords(static_cast<uint64_t>(words[0]), static_cast<uint64_t>(words[1]),
                        static_cast<uint64_t>(words[2]));
  Philox next = taken;
  next.Skip(numbers * ReservedGenerator::kCallsPerOutput);
  words[0] = static_cast<int64_t>(random::CounterOf(next).low);
  words[1] = static_cast<int64_t>(random::CounterOf(next).high);
  return taken;
}

}  // namespace sluice
