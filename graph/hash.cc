#include "graph/hash.h"

#include <cstring>

namespace sluice {

// After Austin Appleby's description of MurmurHash2, 64-bit variant A (public domain).
uint64_t Hash64(std::string_view bytes) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ull;
  constexpr int kShift = 47;
  uint64_t hash = 0xDECAFCAFFEull ^ (bytes.size() * kMultiplier);
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t k;
    std::memcpy(&k, at, 8);
    k *= kMultiplier;
    k ^= k >> kShift;
    hash = (hash ^ (k * kMultiplier)) * kMultiplier;
  }
  if (left > 0) {
    uint64_t tail = 0;
    std::memcpy(&tail, at, left);
    hash = (hash ^ tail) * kMultiplier;
  }
  hash = (hash ^ (hash >> kShift)) * kMultiplier;
  return hash ^ (hash >> kShift);
}

}  // namespace sluice
