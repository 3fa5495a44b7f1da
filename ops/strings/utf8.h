// Characters of UTF-8 text, as far as ops need them: where each begins.
//
// Bytes that are no UTF-8 are taken one by one where they cannot be part of a character.
#ifndef SLUICE_OPS_STRINGS_UTF8_H_
#define SLUICE_OPS_STRINGS_UTF8_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// A byte that continues a character.
inline bool IsUtf8Trail(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// How many characters begin in `text`.
inline int64_t Utf8Length(std::string_view text) {
  int64_t n = 0;
  for (char c : text) n += IsUtf8Trail(c) ? 0 : 1;
  return n;
}

// Moves `*at` over `count` characters (back where it is negative). False where there are fewer.
bool SkipUtf8(std::string_view text, int64_t count, size_t* at);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_UTF8_H_
