// The kernels of CSVDataset.
#include <memory>
#include <optional>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/io/byte_source.h"
#include "ops/strings/number.h"

namespace sluice {
namespace {

struct CsvSpec {
  std::vector<std::string> files;
  StreamCompression compression = StreamCompression::kNone;
  bool has_header = false, use_quotes = true;
  char delimiter = ',';
  std::string na_value;
  std::vector<int64_t> columns;  // columns to return. If empty, all
  std::vector<int64_t> excluded;
  Tensors defaults;  // empty tensors for required fields
};

// Reads a file character by character. Fails if the reading of the dataset is cancelled, even
// inside an endless record or header.
class Characters {
 public:
  Characters(std::unique_ptr<ByteSource> source, const Reading& reading)
      : source_(std::move(source)), reading_(reading) {}
  // Returns the next character, or nothing at the end of the file.
  absl::StatusOr<std::optional<char>> Peek() {
    if (at_ == buffer_.size()) {
      constexpr size_t kChunk = 1 << 16;
      at_ = 0;
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      SLUICE_RETURN_IF_ERROR(source_->Read(kChunk, &buffer_));
      if (buffer_.empty()) return std::optional<char>();
    }
    return std::optional<char>(buffer_[at_]);
  }
  // Advances past the character that Peek returned.
  void Take() { ++at_; }

 private:
  const std::unique_ptr<ByteSource> source_;
  const Reading& reading_;
  std::string buffer_;
  size_t at_ = 0;
};

// Reads the fields of one record. After an error it still reads to the end of the record, so that
// the next record can be read.
class CsvRecord {
 public:
  CsvRecord(const CsvSpec& spec, Characters& in) : spec_(spec), in_(in) {}

  // Sets `*element` to the fields of the chosen columns. Returns the first error in the record.
  absl::Status Read(Tensors* element) {
    for (int64_t column = 0, excluded = 0; !at_end_; ++column) {
      std::string field;
      SLUICE_RETURN_IF_ERROR(ReadField(&field));
      if (excluded < static_cast<int64_t>(spec_.excluded.size()) &&
          spec_.excluded[static_cast<size_t>(excluded)] == column) {
        ++excluded;
      } else {
        Add(column, field, element);
      }
    }
    const size_t wanted = spec_.defaults.size();
    if (element->size() < wanted) {
      first_error_.Update(
          InvalidArgument("Expect ", wanted, " fields but have ", element->size(), " in record"));
    }
    return first_error_;
  }

 private:
  // Reads a field, and the delimiter or end of line after it.
  absl::Status ReadField(std::string* field) {
    SLUICE_ASSIGN_OR_RETURN(const std::optional<char> first, in_.Peek());
    if (spec_.use_quotes && first == '"') return ReadQuoted(field);
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(const bool is_over, TakeSeparator());
      if (is_over) return absl::OkStatus();
      SLUICE_ASSIGN_OR_RETURN(const std::optional<char> next, in_.Peek());
      in_.Take();
      if (spec_.use_quotes && next == '"') {
        first_error_.Update(InvalidArgument("Unquoted fields cannot have quotes inside"));
      }
      field->push_back(*next);
    }
  }

  absl::Status ReadQuoted(std::string* field) {
    in_.Take();
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(const std::optional<char> next, in_.Peek());
      SLUICE_INVALID_IF(!next.has_value(),
                        "Reached end of file without closing quoted field in record");
      in_.Take();
      if (next != '"') {
        field->push_back(*next);
        continue;
      }
      SLUICE_ASSIGN_OR_RETURN(const bool is_over, TakeSeparator());
      if (is_over) return absl::OkStatus();
      SLUICE_ASSIGN_OR_RETURN(const std::optional<char> second, in_.Peek());
      in_.Take();
      if (second != '"') {
        first_error_.Update(
            InvalidArgument("Quote inside a string has to be escaped by another quote"));
      }
      field->push_back(*second);
    }
  }

  // Takes a delimiter, or the end of the line or file. Returns false if another character comes
  // next.
  absl::StatusOr<bool> TakeSeparator() {
    SLUICE_ASSIGN_OR_RETURN(const std::optional<char> next, in_.Peek());
    at_end_ = !next.has_value() || next == '\n' || next == '\r';
    if (!at_end_ && next != spec_.delimiter) return false;
    if (next.has_value()) in_.Take();
    if (next != '\r') return true;
    SLUICE_ASSIGN_OR_RETURN(const std::optional<char> second, in_.Peek());
    if (second == '\n') in_.Take();
    return true;
  }

  void Add(int64_t column, const std::string& field, Tensors* element) {
    const size_t i = element->size();
    if (!spec_.columns.empty()) {
      if (i == spec_.columns.size() || spec_.columns[i] != column) return;
    } else if (i == spec_.defaults.size()) {
      first_error_.Update(InvalidArgument("Expect ", i, " fields but have more in record"));
      return;
    }
    absl::StatusOr<Tensor> value = ValueOf(field, i);
    first_error_.Update(value.status());
    element->push_back(value.ok() ? *std::move(value) : Tensor());
  }

  absl::StatusOr<Tensor> ValueOf(const std::string& field, size_t i) const {
    const Tensor& otherwise = spec_.defaults[i];
    if (field.empty() || field == spec_.na_value) {
      SLUICE_INVALID_IF(otherwise.num_elements() == 0, "Field ", i,
                        " is required but missing in record!");
      return otherwise.Reshaped(TensorShape());
    }
    switch (otherwise.dtype()) {
      case DT_FLOAT:
        return Number<float>(field, i);
      case DT_DOUBLE:
        return Number<double>(field, i);
      case DT_INT32:
        return Number<int32_t>(field, i);
      case DT_INT64:
        return Number<int64_t>(field, i);
      default:
        return Tensor::Scalar(field);
    }
  }

  template <typename T>
  absl::StatusOr<Tensor> Number(const std::string& field, size_t i) const {
    T number;
    if (ParseNumber(field, &number)) return Tensor::Scalar<T>(number);
    return InvalidArgument("Field ", i, " in record is not a valid ",
                           DataTypeName(spec_.defaults[i].dtype()), ": ", field);
  }

  const CsvSpec& spec_;
  Characters& in_;
  bool at_end_ = false;
  absl::Status first_error_;
};

class CsvIterator : public DatasetIterator {
 public:
  CsvIterator(std::shared_ptr<const CsvSpec> spec, const Reading& reading)
      : spec_(std::move(spec)), reading_(reading) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (true) {
      SLUICE_RETURN_IF_ERROR(CheckNotCancelled(reading_));
      if (in_ == nullptr) {
        if (file_ == spec_->files.size()) return false;
        SLUICE_RETURN_IF_ERROR(Open(spec_->files[file_]));
      }
      SLUICE_ASSIGN_OR_RETURN(const std::optional<char> next, in_->Peek());
      if (next.has_value()) break;
      Close();
    }
    element->clear();
    SLUICE_RETURN_IF_ERROR(CsvRecord(*spec_, *in_).Read(element));
    return true;
  }

 private:
  absl::Status Open(const std::string& name) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(name));
    in_ = std::make_unique<Characters>(Unpack(std::move(file), spec_->compression), reading_);
    if (!spec_->has_header) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(std::optional<char> next, in_->Peek());
    if (!next.has_value()) {
      Close();
      return InvalidArgument("Can't read header of file");
    }
    while (next.has_value()) {
      in_->Take();
      if (next == '\n') break;
      SLUICE_ASSIGN_OR_RETURN(next, in_->Peek());
    }
    return absl::OkStatus();
  }
  void Close() {
    in_ = nullptr;
    ++file_;
  }

  const std::shared_ptr<const CsvSpec> spec_;
  const Reading& reading_;
  size_t file_ = 0;                 // the open file, or the next one to open
  std::unique_ptr<Characters> in_;  // null if no file is open
};

absl::StatusOr<std::vector<int64_t>> ColumnsIn(const KernelContext& c, const char* name) {
  const auto all = c.input(InputIndex(c, name)).flat<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    SLUICE_INVALID_IF(all[i] < 0, name, " should be non-negative indices");
    SLUICE_INVALID_IF(i > 0 && all[i] <= all[i - 1], name,
                      " should be strictly increasing indices");
  }
  return std::vector<int64_t>(all.begin(), all.end());
}

absl::Status SetColumns(const KernelContext& c, CsvSpec* spec) {
  const auto [first, last] = c.node().InputRange(c.node().def().InputIndex("record_defaults"));
  spec->defaults = InputsOf(c, first, last);
  for (size_t i = 0; i < spec->defaults.size(); ++i) {
    const Tensor& value = spec->defaults[i];
    SLUICE_INVALID_IF(value.rank() > 1, "Each record default should be at most rank 1, got shape ",
                      value.shape().ToString());
    SLUICE_INVALID_IF(value.num_elements() > 1,
                      "There should only be 1 default per field but field ", i, " has ",
                      value.num_elements());
  }
  SLUICE_ASSIGN_OR_RETURN(spec->columns, ColumnsIn(c, "select_cols"));
  SLUICE_INVALID_IF(!spec->columns.empty() && spec->columns.size() != spec->defaults.size(),
                    "select_cols should match output size");
  if (!HasInput(c, "exclude_cols")) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(spec->excluded, ColumnsIn(c, "exclude_cols"));
  SLUICE_INVALID_IF(!spec->columns.empty() && !spec->excluded.empty(),
                    "Either select_cols or exclude_cols should be empty");
  return absl::OkStatus();
}

absl::StatusOr<DatasetPointer> CsvDataset(const KernelContext& c) {
  auto spec = std::make_shared<CsvSpec>();
  const Tensor& names = c.input(InputIndex(c, "filenames"));
  SLUICE_INVALID_IF(names.rank() > 1, "`filenames` must be a scalar or a vector.");
  spec->files.assign(names.flat<std::string>().begin(), names.flat<std::string>().end());
  SLUICE_ASSIGN_OR_RETURN(const auto compression, ScalarInput<std::string>(c, "compression_type"));
  SLUICE_ASSIGN_OR_RETURN(spec->compression, CompressionFromName(compression));
  SLUICE_ASSIGN_OR_RETURN(const auto buffer_size, ScalarInput<int64_t>(c, "buffer_size"));
  SLUICE_INVALID_IF(buffer_size <= 0, "buffer_size should be positive");
  SLUICE_ASSIGN_OR_RETURN(spec->has_header, ScalarInput<bool>(c, "header"));
  SLUICE_ASSIGN_OR_RETURN(const auto delimiter, ScalarInput<std::string>(c, "field_delim"));
  SLUICE_INVALID_IF(delimiter.size() != 1, "field_delim should be only 1 char");
  spec->delimiter = delimiter[0];
  SLUICE_ASSIGN_OR_RETURN(spec->use_quotes, ScalarInput<bool>(c, "use_quote_delim"));
  SLUICE_ASSIGN_OR_RETURN(spec->na_value, ScalarInput<std::string>(c, "na_value"));
  SLUICE_RETURN_IF_ERROR(SetColumns(c, spec.get()));
  return MakeDataset({}, [spec](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<CsvIterator>(spec, reading);
  });
}

KERNEL(CSVDataset, DatasetKernel<CsvDataset>);
KERNEL(CSVDatasetV2, DatasetKernel<CsvDataset>);
KERNEL(ExperimentalCSVDataset, DatasetKernel<CsvDataset>);

}  // namespace
}  // namespace sluice
