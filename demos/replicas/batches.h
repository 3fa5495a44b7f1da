// The batches of one replica: batch i is the same in every run, wherever the run began.
#ifndef SLUICE_DEMOS_REPLICAS_BATCHES_H_
#define SLUICE_DEMOS_REPLICAS_BATCHES_H_

#include <cstdint>
#include <vector>

#include "demos/data/idx.h"

namespace sluice::demos {

// Each pass over the data sees every image once, in an order that follows from the seed and the
// number of the pass alone. Thread safety: none. Lifetime: the data outlives it.
class Batches {
 public:
  Batches(const Dataset& data, int64_t batch, uint64_t seed);
  Dataset At(int64_t index);

 private:
  void Shuffle(int64_t pass);

  const Dataset& data_;
  const int64_t batch_;
  const uint64_t seed_;
  int64_t pass_ = -1;
  std::vector<int64_t> order_;  // of pass_
};

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_BATCHES_H_
