#include "demos/data/random.h"

#include <cmath>

namespace sluice::demos {

namespace {

constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;

uint64_t Mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

// The seed is mixed, because states that differ by a multiple of kStep have the same numbers,
// shifted.
Random::Random(uint64_t seed) : state_(Mixed(seed + kStep)) {}

uint64_t Random::Bits() { return Mixed(state_ += kStep); }

double Random::Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

int64_t Random::Below(int64_t n) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }

double Random::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * M_PI * Uniform());
}

}  // namespace sluice::demos
