// Shuffles the elements of datasets. Equal seeds give TensorFlow's order.
#ifndef SLUICE_OPS_DATA_SHUFFLE_H_
#define SLUICE_OPS_DATA_SHUFFLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "executor/device/resource_manager.h"
#include "graph/mutex.h"
#include "ops/data/dataset.h"
#include "ops/random/philox.h"

namespace sluice {

// A generator of random seeds, from which a shuffled dataset draws one pair of seeds per epoch.
// Thread safety: all methods may be called from any thread.
class ShuffleSeeds {
 public:
  struct State {
    int64_t seed = 0, seed2 = 0;
    int64_t epochs = 0;  // number of pairs that were drawn
  };
  // Seeds (0, 0) stand for random ones. Without `reshuffle`, all epochs have the same seeds. `name`
  // is that of the node that made the generator.
  ShuffleSeeds(std::string name, int64_t seed, int64_t seed2, bool reshuffle);
  std::pair<uint64_t, uint64_t> Next();
  const std::string& name() const { return name_; }
  State state() const;
  void SetState(const State& state);

 private:
  std::pair<uint64_t, uint64_t> Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  const bool reshuffle_;
  mutable Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  Philox philox_ ABSL_GUARDED_BY(mutex_);
  SingleNumbers numbers_ ABSL_GUARDED_BY(mutex_);
};

// A resource that holds a generator of seeds, so that several datasets can share it.
struct SeedGenerator : public Resource {
  static constexpr const char* kTypeName = "N10tensorflow4data20SeedGeneratorManagerE";
  explicit SeedGenerator(std::shared_ptr<ShuffleSeeds> own_seeds) : seeds(std::move(own_seeds)) {}
  std::string DebugString() const override { return "seeds of a shuffled dataset"; }
  const std::shared_ptr<ShuffleSeeds> seeds;
};

// The generator of a node's seeds: the one in input `seed_generator`, if there is one. Otherwise a
// new one from the inputs `seed` and `seed2` and from the attribute that `reshuffle` names (true if
// the op lacks it). If the op has no input `seed`, the new generator has random seeds.
// INVALID_ARGUMENT if an input is not a scalar.
absl::StatusOr<std::shared_ptr<ShuffleSeeds>> SeedsFromInputs(const KernelContext& c,
                                                              const char* reshuffle);
// A new generator from the inputs `seed` and `seed2`.
absl::StatusOr<std::shared_ptr<ShuffleSeeds>> NewSeeds(const KernelContext& c, bool reshuffle);

// A dataset of `count` epochs of `input` (-1: endless), each shuffled with the next pair of seeds.
// It draws elements at random from a buffer of `buffer_size` elements. While the last elements of
// an epoch leave the buffer, elements of the next epoch fill it. INVALID_ARGUMENT if `buffer_size`
// is not positive.
absl::StatusOr<DatasetPointer> Shuffled(const DatasetPointer& input, int64_t buffer_size,
                                        int64_t count, std::shared_ptr<ShuffleSeeds> seeds);

// An endless dataset of random numbers below 2^32. Each reading draws its seeds from `seeds`.
DatasetPointer RandomNumbers(std::shared_ptr<ShuffleSeeds> seeds);

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_SHUFFLE_H_
