// Hash functions of strings. TensorFlow's ops that hash strings to buckets are defined by them.
#ifndef SLUICE_OPS_STRINGS_HASH_H_
#define SLUICE_OPS_STRINGS_HASH_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "graph/hash.h"  // Hash64

namespace sluice {

// FarmHash's Fingerprint64. It is the same on all machines and never changes.
uint64_t Fingerprint64(std::string_view bytes);
// The low and the high half of FarmHash's 128-bit fingerprint.
std::pair<uint64_t, uint64_t> Fingerprint128(std::string_view bytes);
// SipHash-2-4 of `bytes`. `key0` and `key1` are the two halves of its key.
uint64_t KeyedHash64(uint64_t key0, uint64_t key1, std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_HASH_H_
