#include "ops/random/philox.h"

#include <random>

namespace sluice {
namespace {

uint64_t Unpredictable() {
  std::random_device device;
  return Philox::Join(device(), device());
}

}  // namespace

ReservedGenerator::ReservedGenerator(int64_t seed, int64_t seed2)
    : first_(seed == 0 && seed2 == 0
                 ? Philox(Unpredictable(), Unpredictable())
                 : Philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2))) {}

}  // namespace sluice
