// Keys and values of a table out of the lines of a text file.
#ifndef SLUICE_OPS_LOOKUP_TEXT_TABLE_H_
#define SLUICE_OPS_LOOKUP_TEXT_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

struct TextTableOptions {
  static constexpr int64_t kLineNumber = -1;
  static constexpr int64_t kWholeLine = -2;
  // A column, or one of these.
  int64_t key_index = 0;
  int64_t value_index = 0;
  int64_t lines = -1;  // that there must be at least, and that are read; -1: all
  char delimiter = '\t';
  int64_t offset = 0;  // the number of the first line
  DataType key_type = DT_INVALID;
  DataType value_type = DT_INVALID;
};

struct TextTable {
  Tensor keys, values;  // vectors
};

// INVALID_ARGUMENT on types that do not fit the indices, and on lines that do not have what is
// needed, with their number; errors of the file.
absl::StatusOr<TextTable> ReadTextTable(const std::string& path, const TextTableOptions& options);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_TEXT_TABLE_H_
