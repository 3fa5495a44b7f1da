// Elements stacked along a new first dimension.
#ifndef SLUICE_OPS_DATA_BATCH_H_
#define SLUICE_OPS_DATA_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"

namespace sluice {

// INVALID_ARGUMENT where elements differ in the number or the types of their components.
absl::Status CheckSameTypes(const std::vector<Tensors>& rows);

// INVALID_ARGUMENT where that is so, or a component's shapes differ.
absl::StatusOr<Tensors> BatchOf(const std::vector<Tensors>& rows);

// Of batches of `size` elements; a last, shorter one is dropped or not.
DatasetFacts BatchedFacts(const DatasetFacts& in, int64_t size, bool drop_remainder);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_BATCH_H_
