#include "ops/strings/hash.h"

#include <farmhash.h>
#include <highwayhash/sip_hash.h>

namespace sluice {

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
