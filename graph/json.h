// Strings of JSON (RFC 8259), for logs, traces and the output of commands, and checks of UTF-8.
//
// Thread safety: pure functions.
#ifndef SLUICE_GRAPH_JSON_H_
#define SLUICE_GRAPH_JSON_H_

#include <string>
#include <string_view>

namespace sluice {

// Whether `text` is UTF-8 (RFC 3629): without surrogates and overlong sequences.
bool IsUtf8(std::string_view text);

// `text` with U+FFFD for each byte that is not UTF-8.
std::string ToUtf8(std::string_view text);

// `text` as a JSON string, with its quotes. Any bytes give a valid string of one line:
// - control characters, including DEL and those of C1, are escaped, so that a terminal that shows
//   the text obeys none of them;
// - each byte that is not UTF-8 becomes U+FFFD;
// - quotation marks and backslashes get a backslash in front;
// - all other characters stay as they are.
std::string JsonQuoted(std::string_view text);

}  // namespace sluice

#endif  // SLUICE_GRAPH_JSON_H_
