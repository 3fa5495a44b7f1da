// Functions that concatenate text, and that convert between std::string_view and absl::string_view.
// The two are different types in Debian's build of Abseil. Thread safety: pure functions.
#ifndef SLUICE_GRAPH_STRINGS_H_
#define SLUICE_GRAPH_STRINGS_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sluice {

inline absl::string_view ToAbsl(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view ToStd(absl::string_view s) { return {s.data(), s.size()}; }

namespace strings_internal {
template <typename T>
decltype(auto) Piece(const T& v) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return absl::string_view(v.data(), v.size());
  } else {
    return (v);
  }
}
}  // namespace strings_internal

// absl::StrCat and absl::StrAppend with arguments that may also be std::string_view.
template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(strings_internal::Piece(args)...);
}
template <typename... Args>
void StrAppend(std::string* text, const Args&... args) {
  absl::StrAppend(text, strings_internal::Piece(args)...);
}

}  // namespace sluice

#endif  // SLUICE_GRAPH_STRINGS_H_
