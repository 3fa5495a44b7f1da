// Increments scalar variables as counters, for CountUpTo and ResourceCountUpTo.
#ifndef SLUICE_OPS_STATE_COUNT_UP_TO_H_
#define SLUICE_OPS_STATE_COUNT_UP_TO_H_

#include "graph/status.h"
#include "graph/tensor/tensor.h"
#include "ops/state/variable_resource.h"

namespace sluice {

template <typename T>
absl::Status CountUpTyped(Tensor* counter, int64_t limit, Allocator& allocator, Tensor* out) {
  SLUICE_RETURN_IF_ERROR(MakeWritable(counter, allocator));
  const T value = counter->scalar<T>();
  if (value >= limit) return absl::OutOfRangeError(StrCat("Reached limit of ", limit));
  out->scalar<T>() = value;
  counter->scalar<T>() = static_cast<T>(value + 1);
  return absl::OkStatus();
}

// Computes *out = *counter and increments the counter, an int32 or int64. The caller holds the
// claim of the variable, a lock (executor/wait/claim.h). OUT_OF_RANGE if the counter is at `limit`.
inline absl::Status CountUp(Tensor* counter, int64_t limit, Allocator& allocator, Tensor* out) {
  SLUICE_INVALID_IF(!counter->shape().IsScalar(),
                    "input is not a scalar: ", counter->shape().ToString());
  if (counter->dtype() == DT_INT32) {
    SLUICE_INVALID_IF(limit != static_cast<int32_t>(limit), "Attr limit has value ", limit,
                      " out of range for an int32");
    return CountUpTyped<int32_t>(counter, limit, allocator, out);
  }
  return CountUpTyped<int64_t>(counter, limit, allocator, out);
}

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_COUNT_UP_TO_H_
