// Reads the keys and values of a table from the lines of a text file.
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
  // The source of the keys and of the values: the number of a column, kLineNumber or kWholeLine.
  int64_t key_index = 0;
  int64_t value_index = 0;
  int64_t lines = -1;  // number of lines to read, -1: all. The file may have more, but not fewer
  char delimiter = '\t';
  int64_t offset = 0;  // the number that kLineNumber gives the first line
  DataType key_type = DT_INVALID;
  DataType value_type = DT_INVALID;
};

struct TextTable {
  Tensor keys, values;  // vectors
};

// INVALID_ARGUMENT if a line is empty, has too few columns or a field that cannot be parsed, or if
// the file has fewer than `lines` lines. Also if the type for line numbers is not int64, or the
// type for whole lines is neither string nor integer. OUT_OF_RANGE if no line is read. Other errors
// are those of reading the file.
absl::StatusOr<TextTable> ReadTextTable(const std::string& path, const TextTableOptions& options);

}  // namespace sluice

#endif  // SLUICE_OPS_LOOKUP_TEXT_TABLE_H_
