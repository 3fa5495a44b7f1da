#include "demos/replicas/batches.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace sluice::demos {

Batches::Batches(const Dataset& data, int64_t batch, uint64_t seed)
    : data_(data), batch_(batch), seed_(seed), order_(data.labels.num_elements()) {}

void Batches::Shuffle(int64_t pass) {
  if (pass == pass_) return;
  pass_ = pass;
  std::iota(order_.begin(), order_.end(), 0);
  std::seed_seq seed = {seed_, static_cast<uint64_t>(pass)};
  std::mt19937_64 random(seed);
  std::shuffle(order_.begin(), order_.end(), random);
}

Dataset Batches::At(int64_t index) {
  const auto images = static_cast<int64_t>(order_.size());
  std::vector<int64_t> rows;
  for (int64_t i = index * batch_; i < (index + 1) * batch_; ++i) {
    Shuffle(i / images);
    rows.push_back(order_[i % images]);
  }
  return Gather(data_, rows);
}

}  // namespace sluice::demos
