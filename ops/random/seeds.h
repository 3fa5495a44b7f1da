// Makes the generators of stateless random ops, whose seeds and keys are tensors.
//
// Thread safety: pure functions.
// Errors: INVALID_ARGUMENT for wrong shapes and unknown algorithms.
#ifndef SLUICE_OPS_RANDOM_SEEDS_H_
#define SLUICE_OPS_RANDOM_SEEDS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "ops/random/philox.h"

namespace sluice::random {

// The numbers by which TensorFlow's ops name the algorithm.
inline constexpr int64_t kPhiloxAlgorithm = 1;
inline constexpr int64_t kAnyAlgorithm = 3;

// A generator for `seed`, a vector of two integers. The integers are scrambled first, so that seeds
// that differ in any bit give unrelated numbers.
absl::StatusOr<Philox> FromSeed(const Tensor& seed);

// A generator with this key (uint64, shape [1]) and counter (uint64, [2]). `algorithm` is an int32
// scalar.
absl::StatusOr<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                         const Tensor& algorithm);

// INVALID_ARGUMENT "input 3 (0-based) must have shape [], not [2]" unless `t`, which is input i, is
// a scalar.
absl::Status CheckScalar(const Tensor& t, int i);

// KeyOf and CounterOf return the key and the counter of a generator as integers. FromWords makes a
// generator from such integers.
uint64_t KeyOf(const Philox& generator);
struct CounterWords {
  uint64_t low, high;
};
CounterWords CounterOf(const Philox& generator);
Philox FromWords(uint64_t counter_low, uint64_t counter_high, uint64_t key);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SEEDS_H_
