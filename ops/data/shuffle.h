// Elements in random order: TensorFlow's for the same seeds.
#ifndef SLUICE_OPS_DATA_SHUFFLE_H_
#define SLUICE_OPS_DATA_SHUFFLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/kernel/context.h"
#include "ops/data/dataset.h"
#include "ops/random/philox.h"

namespace sluice {

// Seeds for one epoch after the other. Thread safety: from any thread.
class ShuffleSeeds {
 public:
  // Seeds (0, 0) mean "differently in every program". Without `reshuffle` all epochs have the same.
  ShuffleSeeds(int64_t seed, int64_t seed2, bool reshuffle);
  std::pair<uint64_t, uint64_t> Next();

 private:
  const bool reshuffle_;
  int64_t seed_, seed2_;
  std::mutex mutex_;
  Philox philox_;          // guarded by mutex_
  SingleNumbers numbers_;  // guarded by mutex_
};

// Of a kernel whose inputs are a dataset and a `buffer_size`: its elements `count` times, or for
// ever (-1), each epoch in an order of its own, the next one's read into the buffer while the last
// one's leave it.
absl::StatusOr<DatasetPointer> Shuffled(const KernelContext& c, int64_t count,
                                        std::shared_ptr<ShuffleSeeds> seeds);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_SHUFFLE_H_
