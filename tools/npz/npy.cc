// Reads and writes the .npy format: a magic, a version, the length of the header, the header (a
// Python dictionary with the keys 'descr', 'fortran_order', 'shape'), then the elements. Reference:
// NumPy's page "NPY format".

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/status.h"
#include "tools/npz/npz.h"

namespace sluice {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;
constexpr int64_t kItemBytesMax = int64_t{1} << 30;

struct Header {
  std::string type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

uint32_t LittleEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

// Removes the header from `content`, which then starts with the elements, and returns its text.
absl::StatusOr<absl::string_view> TakeHeaderText(absl::string_view& content) {
  constexpr size_t kPrefix = 8;  // magic and version
  if (content.size() < kPrefix || !absl::StartsWith(content, kMagic)) {
    return InvalidArgument("not a .npy file");
  }
  const int version = static_cast<uint8_t>(content[6]);
  if (version < 1 || version > 3) {
    return InvalidArgument(".npy version ", version, " is not known");
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (content.size() < kPrefix + length_bytes) {
    return InvalidArgument("the header is cut off");
  }
  const size_t length = LittleEndian(content.substr(kPrefix, length_bytes));
  content.remove_prefix(kPrefix + length_bytes);
  if (length > content.size()) return InvalidArgument("the header is cut off");
  const absl::string_view text = content.substr(0, length);
  content.remove_prefix(length);
  return text;
}

// The text of `key`'s value, up to `end` (exclusive); nullopt if there is none.
std::optional<absl::string_view> ValueOf(absl::string_view text, absl::string_view key, char end) {
  const size_t at = text.find(StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return std::nullopt;
  text = absl::StripLeadingAsciiWhitespace(text.substr(at + key.size() + 3));
  const size_t stop = text.find(end, 1);
  if (stop == absl::string_view::npos) return std::nullopt;
  return text.substr(0, stop);
}

absl::StatusOr<std::string> ParseType(absl::string_view text) {
  const std::optional<absl::string_view> value = ValueOf(text, "descr", ',');
  if (!value || value->size() < 4 || value->front() != '\'' || value->back() != '\'') {
    return InvalidArgument("structured types are not read");
  }
  const absl::string_view type = value->substr(1, value->size() - 2);
  if (type == "|O") {
    return InvalidArgument("holds Python objects; save strings with dtype 'S' or 'U' instead");
  }
  if (type.front() == '>') return InvalidArgument("big-endian arrays are not read");
  if (NpyItemSize(ToStd(type.substr(1))) == 0 && type.substr(1) != "S0" && type.substr(1) != "U0") {
    return InvalidArgument("type '", type, "' is not read");
  }
  return std::string(type.substr(1));
}

absl::StatusOr<std::vector<int64_t>> ParseShape(absl::string_view text) {
  const std::optional<absl::string_view> value = ValueOf(text, "shape", ')');
  if (!value || value->front() != '(') return InvalidArgument("the header has no shape");
  std::vector<int64_t> shape;
  for (absl::string_view part : absl::StrSplit(value->substr(1), ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 0) {
      return InvalidArgument("size '", part, "' is not a number");
    }
    shape.push_back(size);
  }
  return shape;
}

absl::StatusOr<Header> ParseHeader(absl::string_view text) {
  Header header;
  SLUICE_ASSIGN_OR_RETURN(header.type, ParseType(text));
  const std::optional<absl::string_view> order = ValueOf(text, "fortran_order", ',');
  if (!order || (*order != "True" && *order != "False")) {
    return InvalidArgument("the header has no fortran_order");
  }
  header.fortran_order = *order == "True";
  SLUICE_ASSIGN_OR_RETURN(header.shape, ParseShape(text));
  return header;
}

// The number of bytes of all elements, or nullopt if it overflows.
std::optional<int64_t> TotalBytes(const Header& header) {
  int64_t total = NpyItemSize(header.type);
  for (const int64_t size : header.shape) {
    if (__builtin_mul_overflow(total, size, &total)) return std::nullopt;
  }
  return total;
}

// Converts elements from column-major to row-major order.
std::string ToRowMajor(absl::string_view bytes, const std::vector<int64_t>& shape, int64_t item) {
  std::string out(bytes.size(), '\0');
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t from = 0; from < bytes.size(); from += item) {
    int64_t to = 0;
    for (size_t d = 0; d < shape.size(); ++d) to = to * shape[d] + index[d];
    std::copy_n(bytes.begin() + from, item, out.begin() + to * item);
    for (size_t d = 0; d < shape.size() && ++index[d] == shape[d]; ++d) index[d] = 0;
  }
  return out;
}

}  // namespace

int64_t NpyItemSize(std::string_view type) {
  if (type.size() < 2) return 0;
  int64_t size = 0;
  if (!absl::SimpleAtoi(ToAbsl(type.substr(1)), &size) || size < 0 || size > kItemBytesMax)
    return 0;
  const auto one_of = [size](std::initializer_list<int64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end() ? size : 0;
  };
  switch (type.front()) {
    case 'f':
      return one_of({2, 4, 8});
    case 'i':
    case 'u':
      return one_of({1, 2, 4, 8});
    case 'b':
      return one_of({1});
    case 'c':
      return one_of({8, 16});
    case 'S':
      return size;
    case 'U':
      return size * 4;
    default:
      return 0;
  }
}

absl::StatusOr<NpyArray> ParseNpy(std::string_view content) {
  absl::string_view elements = ToAbsl(content);
  SLUICE_ASSIGN_OR_RETURN(const absl::string_view text, TakeHeaderText(elements));
  SLUICE_ASSIGN_OR_RETURN(const Header header, ParseHeader(text));
  const std::optional<int64_t> total = TotalBytes(header);
  if (!total || *total != static_cast<int64_t>(elements.size())) {
    return InvalidArgument("shape (", absl::StrJoin(header.shape, ","), ") of '", header.type,
                           "' does not fit ", elements.size(), " bytes");
  }
  NpyArray array{header.type, header.shape, {}};
  array.bytes = header.fortran_order && header.shape.size() > 1
                    ? ToRowMajor(elements, header.shape, NpyItemSize(header.type))
                    : std::string(elements);
  return array;
}

std::string FormatNpy(const NpyArray& array) {
  const char order =
      array.type == "b1" || array.type[0] == 'S' || NpyItemSize(array.type) == 1 ? '|' : '<';
  std::string header = StrCat(
      "{'descr': '", std::string(1, order), array.type, "', 'fortran_order': False, 'shape': (",
      absl::StrJoin(array.shape, ", "), array.shape.size() == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = 10;  // magic, version, length
  const size_t unpadded = kPrefix + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  const char length[] = {static_cast<char>(header.size() & 0xff),
                         static_cast<char>(header.size() >> 8)};
  return StrCat(kMagic, absl::string_view("\x01\x00", 2), absl::string_view(length, 2), header,
                array.bytes);
}

}  // namespace sluice
