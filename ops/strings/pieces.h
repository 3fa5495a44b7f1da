// Splits a template at its placeholders.
#ifndef SLUICE_OPS_STRINGS_PIECES_H_
#define SLUICE_OPS_STRINGS_PIECES_H_

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace sluice {

// Splits `text` at each occurrence of the placeholder. Returns one piece more than there are
// placeholders. An empty placeholder occurs between any two characters.
inline std::vector<std::string> FormatPieces(const std::string& text,
                                             const std::string& placeholder) {
  return absl::StrSplit(text, absl::ByString(placeholder));
}

}  // namespace sluice

#endif  // SLUICE_OPS_STRINGS_PIECES_H_
