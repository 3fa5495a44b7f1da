// Parallel calls of a function for the elements of a dataset.
#ifndef SLUICE_OPS_DATA_PARALLEL_MAP_H_
#define SLUICE_OPS_DATA_PARALLEL_MAP_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/data/dataset.h"

namespace sluice {

using ElementFunction = std::function<absl::StatusOr<Tensors>(const Tensors&, Reading&)>;

// Applies `f` to each element, `calls` at a time, each in a thread of its own. The results are in
// the order of the elements. The end of the iterator cancels calls that still run.
IteratorPointer ParallelMap(IteratorPointer inner, ElementFunction f, int64_t calls,
                            Reading& reading);

// Input `num_parallel_calls`, an int32 or int64. -1 stands for the number of processors. At most
// 256, because each call is a thread. INVALID_ARGUMENT for other numbers below 1.
absl::StatusOr<int64_t> ParallelCalls(const KernelContext& c);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_PARALLEL_MAP_H_
