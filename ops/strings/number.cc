#include "ops/strings/number.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace sluice {
namespace {

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Removes a sign, because std::from_chars does not accept a plus. Returns whether it was a minus.
bool TakeSign(std::string_view* text) {
  const bool negative = text->starts_with('-');
  if (negative || text->starts_with('+')) text->remove_prefix(1);
  return negative;
}

// Returns whether a valid number that is out of range is too small rather than too large: its first
// digit that is not 0 stands for less than 1. The sign of the exponent alone does not show it, as
// in "0.<400 zeros>1e5".
bool IsSmall(std::string_view text, bool is_hex) {
  const std::string_view digits = text.substr(0, text.find_first_of(is_hex ? "pP" : "eE"));
  const size_t nonzero = digits.find_first_not_of("0.");
  if (nonzero == digits.npos) return true;
  const auto first = static_cast<int64_t>(nonzero);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  // The digit is multiplied by base^place.
  int64_t place = first < point ? point - first - 1 : point - first;
  if (is_hex) place *= 4;  // the exponent's base is 2
  std::string_view exponent = text.substr(std::min(digits.size() + 1, text.size()));
  const bool negative = TakeSign(&exponent);
  int64_t power = 0;
  // Larger exponents need no exact value, because no text has so many digits.
  constexpr int64_t kPowerMax = int64_t{1} << 58;
  for (char c : exponent) power = std::min(10 * power + (c - '0'), kPowerMax);
  return place + (negative ? -power : power) < 0;
}

template <typename T>
bool ParseFloating(std::string_view text, T* value) {
  text = Trimmed(text);
  const bool negative = TakeSign(&text);
  if (text.empty() || text[0] == '-' || text[0] == '+') return false;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  T magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, format);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    magnitude = IsSmall(text, is_hex) ? T(0) : std::numeric_limits<T>::infinity();
  }
  *value = negative ? -magnitude : magnitude;
  return true;
}

template <typename T>
bool ParseInteger(std::string_view text, T* value) {
  text = Trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

bool ParseNumber(std::string_view text, float* value) { return ParseFloating(text, value); }
bool ParseNumber(std::string_view text, double* value) { return ParseFloating(text, value); }
bool ParseNumber(std::string_view text, int32_t* value) { return ParseInteger(text, value); }
bool ParseNumber(std::string_view text, int64_t* value) { return ParseInteger(text, value); }
bool ParseNumber(std::string_view text, uint32_t* value) { return ParseInteger(text, value); }
bool ParseNumber(std::string_view text, uint64_t* value) { return ParseInteger(text, value); }

}  // namespace sluice
