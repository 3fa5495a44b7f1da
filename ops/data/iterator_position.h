// The position of an iterator in its dataset, which SerializeIterator saves.
//
// A position is the number of elements and errors that were taken, and the state of every generator
// of random seeds at its first use in the reading (the pass over the dataset). A new reading that
// starts with these states and takes as many elements and errors reaches the same position. So
// buffers of elements, such as those of a shuffle, need not be saved.
#ifndef SLUICE_OPS_DATA_ITERATOR_POSITION_H_
#define SLUICE_OPS_DATA_ITERATOR_POSITION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/mutex.h"
#include "graph/tensor/tensor.h"
#include "ops/data/shuffle.h"

namespace sluice {

// The states, by the names of the generators. Generators that share a name are in the order of
// their first use.
using SeedStates = std::map<std::string, std::vector<ShuffleSeeds::State>>;

// Records the random seeds of one reading.
// Thread safety: all methods may be called from any thread.
class SeedLog {
 public:
  SeedLog() = default;
  // Sets each generator to its state in `first` before it is used.
  explicit SeedLog(SeedStates first) : first_(std::move(first)) {}
  // An iterator calls this before it draws from `seeds` for the first time.
  void Use(const std::shared_ptr<ShuffleSeeds>& seeds);
  // The state of each generator before its first draw.
  SeedStates states() const;

 private:
  const SeedStates first_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ShuffleSeeds>> used_ ABSL_GUARDED_BY(mutex_);
  SeedStates states_ ABSL_GUARDED_BY(mutex_);
};

struct IteratorPosition {
  int64_t taken = 0;  // number of elements and errors
  SeedStates seeds;

  // A scalar variant.
  Tensor ToTensor() const;
  // INVALID_ARGUMENT if the tensor holds no position.
  static absl::StatusOr<IteratorPosition> FromTensor(const Tensor& tensor);
};

}  // namespace sluice

#endif  // SLUICE_OPS_DATA_ITERATOR_POSITION_H_
