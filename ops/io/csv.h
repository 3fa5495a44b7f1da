// Splits a line of comma-separated values (RFC 4180) into its fields, as DecodeCSV does.
//
// Thread safety: a pure function. Errors: INVALID_ARGUMENT in TensorFlow's words.
#ifndef SLUICE_OPS_IO_CSV_H_
#define SLUICE_OPS_IO_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sluice {

struct CsvFormat {
  char delimiter = ',';
  bool use_quotes = true;
};

// An empty line has no fields.
absl::StatusOr<std::vector<std::string>> SplitCsv(std::string_view line, const CsvFormat& format);

}  // namespace sluice

#endif  // SLUICE_OPS_IO_CSV_H_
