// Elements of a dataset that are kept in memory once they have all been read.
#ifndef SLUICE_OPS_DATA_CACHE_H_
#define SLUICE_OPS_DATA_CACHE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/data/dataset.h"

namespace sluice {

// What was read of a dataset, once it was read to its end.
struct ElementCache {
  std::mutex mutex;
  std::optional<std::vector<Tensors>> elements;  // guarded by mutex; never changed once there
};

// Of a kernel whose inputs are a dataset and the name of a file, which must be empty: UNIMPLEMENTED
// on others.
absl::StatusOr<DatasetPointer> Cached(const KernelContext& c, std::shared_ptr<ElementCache> cache);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_CACHE_H_
