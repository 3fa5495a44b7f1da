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

// TensorFlow's numbers for algorithms.
inline constexpr int64_t kPhiloxAlgorithm = 1;
inline constexpr int64_t kAnyAlgorithm = 3;

// `seed` is a vector of two integers. They are scrambled first, so that seeds that differ in any
// bit give unrelated numbers.
absl::StatusOr<Philox> FromSeed(const Tensor& seed);

// Shapes: key [1] and counter [2] of uint64, algorithm [] of int32.
absl::StatusOr<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                         const Tensor& algorithm);

// "input 3 (0-based) must have shape [], not [2]". `t` is input i.
absl::Status CheckScalar(const Tensor& t, int i);

// Key and counter as integers.
uint64_t KeyOf(const Philox& generator);
struct CounterWords {
  uint64_t low, high;
};
CounterWords CounterOf(const Philox& generator);
Philox FromWords(uint64_t counter_low, uint64_t counter_high, uint64_t key);

}  // namespace sluice::random

#endif  // SLUICE_OPS_RANDOM_SEEDS_H_
