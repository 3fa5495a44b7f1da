// Elements stacked along a new first dimension.
#ifndef SLUICE_OPS_DATA_BATCH_H_
#define SLUICE_OPS_DATA_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"

namespace sluice {

// INVALID_ARGUMENT where a component's shapes differ.
absl::StatusOr<Tensors> BatchOf(const std::vector<Tensors>& rows);

// Of batches of `size` elements; a last, shorter one is dropped or not.
DatasetFacts BatchedFacts(const DatasetFacts& in, int64_t size, bool drop_remainder);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_BATCH_H_
