// Generators from seeds and keys that arrive as tensors: those of stateless random ops.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT on shapes and algorithms.
#ifndef SLUICE_OPS_RANDOM_SEEDS_H_
#define SLUICE_OPS_RANDOM_SEEDS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "ops/random/philox.h"

namespace sluice::random {

// TensorFlow's numbers of algorithms.
inline constexpr int64_t kPhiloxAlgorithm = 1;
inline constexpr int64_t kAnyAlgorithm = 3;

// From a seed: a vector of two int32 or int64, which are scrambled first, so that it does not
// matter which bits of them differ.
absl::StatusOr<Philox> FromSeed(const Tensor& seed);

// From a key [1] and a counter [2] of uint64, and the number of an algorithm.
absl::StatusOr<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                         const Tensor& algorithm);

// The same as numbers.
uint64_t KeyOf(const Philox& generator);
struct CounterWords {
  uint64_t low, high;
};
CounterWords CounterOf(const Philox& generator);
Philox FromWords(uint64_t counter_low, uint64_t counter_high, uint64_t key);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SEEDS_H_
