// What the tests feed.
#ifndef SLUICE_TESTS_ENDTOEND_RANDOM_FLOATS_H_
#define SLUICE_TESTS_ENDTOEND_RANDOM_FLOATS_H_

#include <random>

#include "sluice.h"

namespace sluice {

// Uniform between -bound and bound; the same for the same seed.
inline Tensor RandomFloats(const TensorShape& shape, int seed, float bound = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-bound, bound);
  Tensor t(DT_FLOAT, shape);
  for (float& x : t.flat<float>()) x = value(random);
  return t;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_ENDTOEND_RANDOM_FLOATS_H_
