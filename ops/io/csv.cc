#include "ops/io/csv.h"

#include "graph/status.h"

namespace sluice {
namespace {

// Reads the quoted field whose first quote is at `*at`. Moves `*at` to the position after the
// field.
absl::StatusOr<std::string> QuotedField(std::string_view line, char delimiter, size_t* at) {
  std::string field;
  size_t i = *at + 1;
  for (; i < line.size(); ++i) {
    if (line[i] != '"') {
      field.push_back(line[i]);
      continue;
    }
    const bool is_last = i + 1 == line.size();
    if (is_last || line[i + 1] == delimiter) {
      *at = i + 1;
      return field;
    }
    SLUICE_INVALID_IF(line[i + 1] != '"',
                      "Quote inside a string has to be escaped by another quote");
    field.push_back('"');
    ++i;
  }
  return InvalidArgument("Quoted field has to end with quote followed by delim or end");
}

absl::StatusOr<std::string> PlainField(std::string_view line, const CsvFormat& format, size_t* at) {
  const size_t end = std::min(line.find(format.delimiter, *at), line.size());
  std::string field(line.substr(*at, end - *at));
  SLUICE_INVALID_IF(format.use_quotes && field.find_first_of("\"\n\r") != std::string::npos,
                    "Unquoted fields cannot have quotes/CRLFs inside");
  *at = end;
  return field;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitCsv(std::string_view line, const CsvFormat& format) {
  std::vector<std::string> fields;
  if (line.empty()) return fields;
  size_t at = 0;
  while (true) {
    const bool is_quoted = format.use_quotes && at < line.size() && line[at] == '"';
    SLUICE_ASSIGN_OR_RETURN(std::string field, is_quoted ? QuotedField(line, format.delimiter, &at)
                                                         : PlainField(line, format, &at));
    fields.push_back(std::move(field));
    if (at == line.size()) return fields;
    ++at;  // a delimiter at the end of the line is followed by an empty field
  }
}

}  // namespace sluice
