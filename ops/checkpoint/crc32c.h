// CRC-32C (Castagnoli), as checkpoints, event files and TFRecords carry it.
//
// Thread safety: pure functions.
#ifndef SLUICE_OPS_CHECKPOINT_CRC32C_H_
#define SLUICE_OPS_CHECKPOINT_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The checksum of what `crc` is the checksum of, followed by `bytes`; crc = 0 begins.
uint32_t ExtendCrc32c(uint32_t crc, const void* bytes, size_t size);
inline uint32_t Crc32c(std::string_view bytes) {
  return ExtendCrc32c(0, bytes.data(), bytes.size());
}

// Files store checksums masked: the checksum of bytes that hold their own checksum is a bad one.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_CRC32C_H_
