#include "ops/strings/hash.h"

#include <farmhash.h>
#include <highwayhash/sip_hash.h>

#include <cstring>

namespace sluice {

uint64_t Hash64(std::string_view bytes) {
  constexpr uint64_t kSeed = 0xDECAFCAFFE;
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t h = kSeed ^ (bytes.size() * kMultiplier);
  while (bytes.size() >= 8) {
    uint64_t k;
    std::memcpy(&k, bytes.data(), 8);
    bytes.remove_prefix(8);
    k *= kMultiplier;
    k ^= k >> kShift;
    k *= kMultiplier;
    h ^= k;
    h *= kMultiplier;
  }
  if (!bytes.empty()) {
    uint64_t rest = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      rest |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    h ^= rest;
    h *= kMultiplier;
  }
  h ^= h >> kShift;
  h *= kMultiplier;
  h ^= h >> kShift;
  return h;
}

uint64_t Fingerprint64(std::string_view bytes) {
  return NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint64(bytes.data(), bytes.size());
}

std::pair<uint64_t, uint64_t> Fingerprint128(std::string_view bytes) {
  const auto found = NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint128(bytes.data(), bytes.size());
  return {NAMESPACE_FOR_HASH_FUNCTIONS::Uint128Low64(found),
          NAMESPACE_FOR_HASH_FUNCTIONS::Uint128High64(found)};
}

uint64_t KeyedHash64(uint64_t key0, uint64_t key1, std::string_view bytes) {
  const highwayhash::HH_U64 key[2] = {key0, key1};
  return highwayhash::SipHash(key, bytes.data(), bytes.size());
}

}  // namespace sluice
