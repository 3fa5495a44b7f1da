#include "graph/format/checksum.h"

#include <isa-l/crc.h>

namespace sluice {

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  constexpr size_t kPartBytesMax = size_t{1} << 30;  // the library's lengths are int
  // In contrast to the standard, the library does not invert the initial value and the result.
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kPartBytesMax);
    // The library only reads; its signature lacks a const.
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data()));
    state = crc32_iscsi(data, static_cast<int>(part.size()), state);
    bytes.remove_prefix(part.size());
  }
  return ~state;
}

}  // namespace sluice
