// Stacks the elements of a dataset to batches, along a new first dimension.
#ifndef SLUICE_OPS_DATA_BATCH_H_
#define SLUICE_OPS_DATA_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/data/dataset.h"

namespace sluice {

struct BatchSpec {
  int64_t size = 0;
  bool drop_remainder = false;
  // Whether `rows`, the elements of the next batch, are a last, shorter batch that must be dropped.
  bool Drops(const std::vector<Tensors>& rows) const {
    return drop_remainder && static_cast<int64_t>(rows.size()) < size;
  }
};

// INVALID_ARGUMENT if the rows differ in number or types of their components.
absl::Status CheckSameTypes(const std::vector<Tensors>& rows);

// Stacks the rows. INVALID_ARGUMENT if they differ in number, types or shapes of their components.
absl::StatusOr<Tensors> BatchOf(const std::vector<Tensors>& rows);

// Facts about a dataset of batches. `in` has the facts about the dataset whose elements are
// batched.
DatasetFacts BatchedFacts(const DatasetFacts& in, const BatchSpec& spec);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_BATCH_H_
