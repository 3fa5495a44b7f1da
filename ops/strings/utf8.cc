#include "ops/strings/utf8.h"

namespace sluice {

bool SkipUtf8(std::string_view text, int64_t count, size_t* at) {
  for (; count > 0; --count) {
    if (*at >= text.size()) return false;
    ++*at;
    while (*at < text.size() && IsUtf8Trail(text[*at])) ++*at;
  }
  for (; count < 0; ++count) {
    if (*at == 0) return false;
    --*at;
    while (*at > 0 && IsUtf8Trail(text[*at])) --*at;
  }
  return true;
}

}  // namespace sluice
