// Computes the SHA-256 digest of bytes.
//
// Thread safety: a pure function. Reference: FIPS 180-4.
#ifndef SLUICE_DISTRIBUTED_EVENTS_SHA256_H_
#define SLUICE_DISTRIBUTED_EVENTS_SHA256_H_

#include <string>
#include <string_view>

namespace sluice {

// Returns the digest as 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_EVENTS_SHA256_H_
