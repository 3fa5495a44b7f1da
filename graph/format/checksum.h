// CRC-32C (Castagnoli), the checksum in TensorFlow's record files, event files and checkpoints.
//
// Files store masked checksums, because a checksum of bytes that contain checksums is weak.
// Thread safety: pure functions.
#ifndef SLUICE_GRAPH_FORMAT_CHECKSUM_H_
#define SLUICE_GRAPH_FORMAT_CHECKSUM_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// If `crc` is the checksum of some bytes, returns the checksum of these bytes followed by `bytes`.
// The checksum of no bytes is 0.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);
inline uint32_t Crc32c(std::string_view bytes) { return ExtendCrc32c(0, bytes); }

inline uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_CHECKSUM_H_
