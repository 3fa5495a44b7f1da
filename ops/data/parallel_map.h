// A function of each element, several calls at a time, each by a thread of its own; results in the
// order of the elements.
#ifndef SLUICE_OPS_DATA_PARALLEL_MAP_H_
#define SLUICE_OPS_DATA_PARALLEL_MAP_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/data/dataset.h"

namespace sluice {

using ElementFunction = std::function<absl::StatusOr<Tensors>(const Tensors&, Reading&)>;
// Calls that nobody waits for any more end with the iterator.
IteratorPointer ParallelMap(IteratorPointer inner, ElementFunction f, int64_t calls,
                            Reading& reading);

// Input `i`, an int32 or int64 `num_parallel_calls`, where -1 is as many as there are processors;
// at most 256, each being a thread. INVALID_ARGUMENT on other numbers below 1.
absl::StatusOr<int64_t> ParallelCalls(const KernelContext& c, int i);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_PARALLEL_MAP_H_
