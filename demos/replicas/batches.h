// Batches returns the batches on which one replica trains. Batch i is the same in every run, at
// whatever step the run began.
#ifndef SLUICE_DEMOS_REPLICAS_BATCHES_H_
#define SLUICE_DEMOS_REPLICAS_BATCHES_H_

#include <cstdint>
#include <vector>

#include "demos/data/idx.h"

namespace sluice::demos {

// Each pass over the data contains every image once, in an order that depends only on the seed and
// the number of the pass.
// Thread safety: none.
// Lifetime: `data` must outlive the object.
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
