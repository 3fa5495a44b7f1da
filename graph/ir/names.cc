#include "graph/ir/names.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace sluice {

bool IsValidNodeName(std::string_view name, bool allow_internal) {
  bool at_start = true;
  for (const char c : name) {
    const bool is_plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.';
    const bool is_ok =
        is_plain || (at_start ? allow_internal && c == '_'
                              : c == '_' || c == '-' || c == '/' || c == '\\' || c == '>');
    if (!is_ok) return false;
    at_start = c == '>';
  }
  return !at_start;
}

TensorName ParseTensorName(std::string_view text) {
  if (text.starts_with('^')) return {text.substr(1), -1};
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return {text, 0};
  const std::string_view digits = text.substr(colon + 1);
  const bool is_index =
      !digits.empty() && digits.size() < 10 && (digits.size() == 1 || digits[0] != '0') &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_index) return {text, 0};
  return {text.substr(0, colon), std::stoi(std::string(digits))};
}

}  // namespace sluice
