#include "ops/lookup/text_table.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_split.h"
#include "graph/status.h"
#include "ops/io/byte_source.h"
#include "ops/loops/wrapping.h"
#include "ops/strings/number.h"

namespace sluice {
namespace {

bool IsIndex(DataType type) { return type == DT_INT32 || type == DT_INT64; }

absl::Status CheckType(const char* which, const char* what, int64_t index, DataType type) {
  SLUICE_INVALID_IF(index == TextTableOptions::kLineNumber && type != DT_INT64, which,
                    " index for line number requires table ", what, " dtype of int64, got ",
                    DataTypeName(type));
  SLUICE_INVALID_IF(index == TextTableOptions::kWholeLine && !IsIndex(type) && type != DT_STRING,
                    which, " index for whole line requires ",
                    what == std::string_view("key") ? "string or integer table key"
                                                    : "table value dtype of integer or string",
                    ", got ", DataTypeName(type));
  return absl::OkStatus();
}

// The keys or the values of a table, read from one column of the file.
class Column {
 public:
  Column(DataType type, int64_t index) : type_(type), index_(index) {}

  int64_t index() const { return index_; }
  absl::Status Append(const std::string& line, const std::vector<std::string>& fields,
                      int64_t number, int64_t offset) {
    if (index_ == TextTableOptions::kLineNumber) {
      integers_.push_back(WrappingAdd(number, offset));
      return absl::OkStatus();
    }
    const std::string& field =
        index_ == TextTableOptions::kWholeLine ? line : fields[static_cast<size_t>(index_)];
    bool is_valid = true;
    if (type_ == DT_STRING) {
      strings_.push_back(field);
    } else if (type_ == DT_INT32) {
      is_valid = Parse<int32_t>(field, &integers_);
    } else if (type_ == DT_INT64) {
      is_valid = Parse<int64_t>(field, &integers_);
    } else if (type_ == DT_FLOAT) {
      is_valid = Parse<float>(field, &numbers_);
    } else if (type_ == DT_DOUBLE) {
      is_valid = Parse<double>(field, &numbers_);
    } else {
      return InvalidArgument("Data type ", DataTypeName(type_), " not supported.");
    }
    if (is_valid) return absl::OkStatus();
    return InvalidArgument("Field ", field, " in line ", number, " is not a valid ",
                           DataTypeName(type_), ".");
  }

  Tensor Take() {
    if (type_ == DT_STRING) return Tensor::Vector<std::string>(strings_);
    if (type_ == DT_INT64) return Tensor::Vector<int64_t>(integers_);
    if (type_ == DT_DOUBLE) return Tensor::Vector<double>(numbers_);
    const size_t size = std::max(integers_.size(), numbers_.size());
    Tensor column(type_, {static_cast<int64_t>(size)});
    if (type_ == DT_INT32) std::copy(integers_.begin(), integers_.end(), column.data<int32_t>());
    if (type_ == DT_FLOAT) std::copy(numbers_.begin(), numbers_.end(), column.data<float>());
    return column;
  }

 private:
  template <typename T, typename Wide>
  static bool Parse(const std::string& field, std::vector<Wide>* column) {
    T value;
    if (!ParseNumber(field, &value)) return false;
    column->push_back(value);
    return true;
  }

  const DataType type_;
  const int64_t index_;
  std::vector<std::string> strings_;
  std::vector<int64_t> integers_;
  std::vector<double> numbers_;
};

absl::Status AppendLine(const std::string& path, const std::string& line, int64_t number,
                        const TextTableOptions& options, Column& keys, Column& values) {
  const int64_t last = std::max(keys.index(), values.index());
  std::vector<std::string> fields;
  if (last >= 0) {
    fields = absl::StrSplit(line, options.delimiter);
    SLUICE_INVALID_IF(last >= static_cast<int64_t>(fields.size()), "Invalid number of columns in ",
                      path, " line ", number, " (", line, ") : expected at least ", last + 1,
                      " got ", fields.size());
  }
  SLUICE_RETURN_IF_ERROR(keys.Append(line, fields, number, options.offset));
  return values.Append(line, fields, number, options.offset);
}

}  // namespace

absl::StatusOr<TextTable> ReadTextTable(const std::string& path, const TextTableOptions& options) {
  SLUICE_INVALID_IF(path.empty(), "filename cannot be empty.");
  SLUICE_RETURN_IF_ERROR(CheckType("Key", "key", options.key_index, options.key_type));
  SLUICE_RETURN_IF_ERROR(CheckType("Value", "value", options.value_index, options.value_type));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenFile(path));
  Column keys(options.key_type, options.key_index);
  Column values(options.value_type, options.value_index);
  std::string line;
  int64_t number = 0;
  for (; number != options.lines; ++number) {
    SLUICE_ASSIGN_OR_RETURN(const bool any, file->ReadLine(&line));
    if (!any) break;
    SLUICE_INVALID_IF(line.empty(), "Invalid content in ", path, ": empty line found at position ",
                      file->position(), ".");
    SLUICE_RETURN_IF_ERROR(AppendLine(path, line, number, options, keys, values));
  }
  SLUICE_INVALID_IF(options.lines > number, "Invalid vocab_size in ", path, ": expected ",
                    options.lines, " but got ", number);
  if (number == 0) {
    return absl::OutOfRangeError(
        options.lines == 0 ? StrCat("Finished reading 0 of lines from ", path)
                           : StrCat("Read less bytes than requested: ", path, " is empty"));
  }
  return TextTable{.keys = keys.Take(), .values = values.Take()};
}

}  // namespace sluice
