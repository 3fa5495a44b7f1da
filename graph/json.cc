#include "graph/json.h"

#include <cstddef>
#include <cstdint>

namespace sluice {
namespace {

// The first character of a text. `length` is 0 if the text does not begin with valid UTF-8.
struct Character {
  uint32_t code = 0;
  size_t length = 0;
};

Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
  if (length == 0 || length > text.size()) return {};
  uint32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff) return {};
  if (code >= 0xd800 && code < 0xe000) return {};
  return {code, length};
}

void AppendEscape(std::string* quoted, uint32_t code) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (code == '\n' || code == '\t') {
    *quoted += code == '\n' ? "\\n" : "\\t";
    return;
  }
  *quoted += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) quoted->push_back(kDigits[code >> shift & 15]);
}

bool IsControl(uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = FirstCharacter(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = FirstCharacter(text).length;
    valid.append(length == 0 ? "\xef\xbf\xbd" : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

std::string JsonQuoted(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const auto [code, length] = FirstCharacter(text);
    if (length == 0) {
      AppendEscape(&quoted, 0xfffd);
    } else if (IsControl(code)) {
      AppendEscape(&quoted, code);
    } else {
      if (code == '"' || code == '\\') quoted.push_back('\\');
      quoted.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + "\"";
}

}  // namespace sluice
