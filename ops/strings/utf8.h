// Finds the beginnings of characters in UTF-8 text. Each byte that does not continue a character
// (IsUtf8Trail) begins one. Other rules of UTF-8 are not checked.
#ifndef SLUICE_OPS_STRINGS_UTF8_H_
#define SLUICE_OPS_STRINGS_UTF8_H_

#include <cstdint>
#include <string_view>

namespace sluice {

// Whether the byte is not the first one of a character.
inline bool IsUtf8Trail(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The number of characters in `text`.
inline int64_t Utf8Length(std::string_view text) {
  int64_t n = 0;
  for (char c : text) n += IsUtf8Trail(c) ? 0 : 1;
  return n;
}

// Moves `*at`, a position in bytes, by `count` characters, backwards if `count` is negative.
// Returns false if there are fewer characters.
bool SkipUtf8(std::string_view text, int64_t count, size_t* at);

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_UTF8_H_
