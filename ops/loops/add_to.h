// Adds one array to another, for example partial sums of threads.
#ifndef SLUICE_OPS_LOOPS_ADD_TO_H_
#define SLUICE_OPS_LOOPS_ADD_TO_H_

#include <cstdint>

#include "executor/cpu/target_clones.h"
#include "ops/loops/wrapping.h"

namespace sluice {

// sum[i] += x[i]. Integers wrap around. The arrays are the same or do not overlap.
template <typename T>
SLUICE_TARGET_CLONES void AddTo(T* sum, const T* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sum[i] = WrappingAdd(sum[i], x[i]);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_ADD_TO_H_
