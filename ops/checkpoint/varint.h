// Converts numbers to bytes and back: to their bytes in memory, or to protocol buffers' varints
// (seven bits per byte, lowest bits first).
#ifndef SLUICE_OPS_CHECKPOINT_VARINT_H_
#define SLUICE_OPS_CHECKPOINT_VARINT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// The bytes of the number in memory.
template <typename T>
std::string_view BytesOf(const T& number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

inline void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

// Removes a varint from the front of `*bytes`. False if `*bytes` does not begin with a varint of at
// most 64 bits.
inline bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < bytes->size(); ++i) {
    const auto byte = static_cast<unsigned char>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;  // beyond 64 bits
    *value |= uint64_t{byte & 0x7fu} << (7 * i);
    if ((byte & 0x80) == 0) {
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace sluice

#endif  // SLUICE_OPS_CHECKPOINT_VARINT_H_
