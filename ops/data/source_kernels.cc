// Datasets that begin a pipeline. Files are opened when they are read.
#include <algorithm>
#include <limits>
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/data/dataset.h"
#include "ops/io/byte_source.h"
#include "ops/io/record_file.h"
#include "ops/state/tuple_rows.h"

namespace sluice {
namespace {

Tensors InputsOf(const KernelContext& c) {
  Tensors inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  return inputs;
}

absl::Status TensorDataset(KernelContext& c) {
  Tensors components = InputsOf(c);
  DatasetFacts facts{.cardinality = 1};
  if (components[0].rank() > 0) facts.rows = components[0].dim(0);
  const auto iterate = [components](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator(
        [components, done = false](Tensors* element) mutable -> absl::StatusOr<bool> {
          if (std::exchange(done, true)) return false;
          *element = components;
          return true;
        });
  };
  c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
  return absl::OkStatus();
}

absl::Status TensorSliceDataset(KernelContext& c) {
  Tensors components = InputsOf(c);
  for (size_t i = 0; i < components.size(); ++i) {
    if (components[i].rank() == 0) {
      return InvalidArgument("All components must be at least 1-dimensional");
    }
    if (components[i].dim(0) != components[0].dim(0)) {
      return InvalidArgument("All components must have the same size in the 0th dimension, got ",
                             components[0].dim(0), " and ", components[i].dim(0));
    }
  }
  const auto iterate = [components](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator(
        [components, &reading, row = int64_t{0}](Tensors* element) mutable -> absl::StatusOr<bool> {
          SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
          if (row >= components[0].dim(0)) return false;
          element->clear();
          for (const Tensor& t : components) {
            TensorShape shape = t.shape();
            shape.RemoveDim(0);
            SLUICE_ASSIGN_OR_RETURN(Tensor copy, t.SliceRows(row, row + 1).Reshaped(shape).Clone());
            element->push_back(std::move(copy));
          }
          ++row;
          return true;
        });
  };
  DatasetFacts facts{.cardinality = components[0].dim(0)};
  if (components[0].rank() > 1) facts.rows = components[0].dim(1);
  c.set_output(0, TensorOf(MakeDataset(std::move(facts), iterate)));
  return absl::OkStatus();
}

// How many numbers there are in front of `stop`.
int64_t RangeSize(int64_t start, int64_t stop, int64_t step) {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  // Differences of int64s that need not fit into one; a negative step has a positive size.
  const auto distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                 : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t size = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / size + 1;
  constexpr auto kLargest = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(count, static_cast<uint64_t>(kLargest)));
}

absl::Status RangeDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto start, ScalarInput<int64_t>(c, 0, "start"));
  SLUICE_ASSIGN_OR_RETURN(const auto stop, ScalarInput<int64_t>(c, 1, "stop"));
  SLUICE_ASSIGN_OR_RETURN(const auto step, ScalarInput<int64_t>(c, 2, "step"));
  if (step == 0) return InvalidArgument("step must be a non-zero integer.");
  const auto types = c.node().AttrOr<std::vector<DataType>>("output_types", {});
  const DataType type = types.size() == 1 ? types[0] : DT_INT64;
  if (type != DT_INT64 && type != DT_INT32) {
    return absl::UnimplementedError(
        StrCat("RangeDataset of ", DataTypeName(type), " is not supported"));
  }
  const auto iterate = [=](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator(
        [=, &reading, next = start](Tensors* element) mutable -> absl::StatusOr<bool> {
          SLUICE_RETURN_IF_ERROR(CheckWanted(reading));
          if (step > 0 ? next >= stop : next <= stop) return false;
          *element = {type == DT_INT64 ? Tensor::Scalar<int64_t>(next)
                                       : Tensor::Scalar<int32_t>(static_cast<int32_t>(next))};
          if (__builtin_add_overflow(next, step, &next)) next = stop;
          return true;
        });
  };
  c.set_output(0, TensorOf(MakeDataset({.cardinality = RangeSize(start, stop, step)}, iterate)));
  return absl::OkStatus();
}

// --- files, one after the other

// What reads the records of one open file; false at its end.
using ReadRecord = std::function<absl::StatusOr<bool>(std::string*)>;
using OpenRecords =
    std::function<absl::StatusOr<ReadRecord>(std::unique_ptr<ByteSource>, const std::string&)>;

struct FileSet {
  std::vector<std::string> names;
  StreamCompression compression;
  std::vector<int64_t> offsets;  // where each one's records begin; none: at its beginning
};

absl::StatusOr<FileSet> FilesOf(const KernelContext& c, const std::string& compression) {
  const Tensor& names = c.input(0);
  if (names.rank() > 1) return InvalidArgument("`filenames` must be a scalar or a vector.");
  SLUICE_ASSIGN_OR_RETURN(const StreamCompression kind, CompressionFromName(compression));
  const auto all = names.flat<std::string>();
  return FileSet{.names = {all.begin(), all.end()}, .compression = kind};
}

class RecordsIterator : public DatasetIterator {
 public:
  RecordsIterator(FileSet files, OpenRecords open)
      : files_(std::move(files)), open_(std::move(open)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (true) {
      if (read_ == nullptr) {
        if (next_ == files_.names.size()) return false;
        SLUICE_RETURN_IF_ERROR(Open(next_++));
      }
      std::string record;
      const absl::StatusOr<bool> any = read_(&record);
      if (!any.ok() || !*any) read_ = nullptr;
      if (!any.ok()) return any.status();
      if (!*any) continue;
      *element = {Tensor::Scalar(std::move(record))};
      return true;
    }
  }

 private:
  absl::Status Open(size_t i) {
    const std::string& name = files_.names[i];
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(name));
    file = Unpack(std::move(file), files_.compression);
    if (!files_.offsets.empty()) SLUICE_RETURN_IF_ERROR(file->Skip(files_.offsets[i]));
    SLUICE_ASSIGN_OR_RETURN(read_, open_(std::move(file), name));
    return absl::OkStatus();
  }

  const FileSet files_;
  const OpenRecords open_;
  size_t next_ = 0;
  ReadRecord read_;  // of the file at hand; null: none
};

DatasetPointer RecordsOf(FileSet files, OpenRecords open) {
  return MakeDataset({},
                     [files = std::move(files),
                      open = std::move(open)](Reading&) -> absl::StatusOr<IteratorPointer> {
                       return std::make_unique<RecordsIterator>(files, open);
                     });
}

absl::Status TextLineDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto compression,
                          ScalarInput<std::string>(c, 1, "compression_type"));
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c, compression));
  const auto open = [](std::unique_ptr<ByteSource> file,
                       const std::string&) -> absl::StatusOr<ReadRecord> {
    return [source = std::shared_ptr<ByteSource>(std::move(file))](std::string* line) {
      return source->ReadLine(line);
    };
  };
  c.set_output(0, TensorOf(RecordsOf(std::move(files), open)));
  return absl::OkStatus();
}

// Input 3 of the second version: a number a file, or none.
absl::Status TakeOffsets(const KernelContext& c, FileSet* files) {
  if (c.num_inputs() < 4) return absl::OkStatus();
  const Tensor& offsets = c.input(3);
  if (offsets.rank() > 1) return InvalidArgument("`byte_offsets` must be a scalar or a vector.");
  const auto all = offsets.flat<int64_t>();
  if (!all.empty() && all.size() != files->names.size()) {
    return InvalidArgument("`byte_offsets` must be of same size as `filenames`");
  }
  for (int64_t offset : all) {
    if (offset < 0) return InvalidArgument("`byte_offsets` must be >= 0, got ", offset);
  }
  files->offsets.assign(all.begin(), all.end());
  return absl::OkStatus();
}

absl::Status TfRecordDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto compression,
                          ScalarInput<std::string>(c, 1, "compression_type"));
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c, compression));
  SLUICE_RETURN_IF_ERROR(TakeOffsets(c, &files));
  const auto open = [](std::unique_ptr<ByteSource> file,
                       const std::string& name) -> absl::StatusOr<ReadRecord> {
    auto reader = std::make_shared<RecordReader>(std::move(file));
    return [reader, name](std::string* record) -> absl::StatusOr<bool> {
      absl::StatusOr<std::string> next = reader->Next();
      if (absl::IsOutOfRange(next.status())) return false;
      if (!next.ok()) return Annotate(next.status(), StrCat(name, ": "));
      *record = *std::move(next);
      return true;
    };
  };
  c.set_output(0, TensorOf(RecordsOf(std::move(files), open)));
  return absl::OkStatus();
}

// Where the header, the records and the footer lie; what is left must be records.
absl::StatusOr<ReadRecord> OpenFixed(std::unique_ptr<ByteSource> file, const std::string& name,
                                     int64_t header, int64_t record, int64_t footer) {
  auto contents = std::make_shared<std::string>();
  SLUICE_RETURN_IF_ERROR(file->ReadAll(contents.get()));
  const auto size = static_cast<int64_t>(contents->size());
  const int64_t body = size - SaturatedSum(header, footer);  // none of which is negative
  if (body < 0 || body % record != 0) {
    return InvalidArgument("Excluding the header (", header, " bytes) and footer (", footer,
                           " bytes), input file \"", name, "\" has body length ", body,
                           " bytes, which is not an exact multiple of the record length (", record,
                           " bytes).");
  }
  return [contents, at = header, end = header + body,
          record](std::string* out) mutable -> absl::StatusOr<bool> {
    if (at == end) return false;
    *out = contents->substr(static_cast<size_t>(at), static_cast<size_t>(record));
    at += record;
    return true;
  };
}

absl::Status FixedLengthRecordDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto header, ScalarInput<int64_t>(c, 1, "header_bytes"));
  SLUICE_ASSIGN_OR_RETURN(const auto record, ScalarInput<int64_t>(c, 2, "record_bytes"));
  SLUICE_ASSIGN_OR_RETURN(const auto footer, ScalarInput<int64_t>(c, 3, "footer_bytes"));
  std::string compression;
  if (c.num_inputs() > 5) {
    SLUICE_ASSIGN_OR_RETURN(compression, ScalarInput<std::string>(c, 5, "compression_type"));
  }
  if (header < 0) return InvalidArgument("`header_bytes` must be >= 0.");
  if (record <= 0) return InvalidArgument("`record_bytes` must be > 0");
  if (footer < 0) return InvalidArgument("`footer_bytes` must be >= 0");
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c, compression));
  const auto open = [=](std::unique_ptr<ByteSource> file, const std::string& name) {
    return OpenFixed(std::move(file), name, header, record, footer);
  };
  c.set_output(0, TensorOf(RecordsOf(std::move(files), open)));
  return absl::OkStatus();
}

KERNEL(FixedLengthRecordDataset, FunctionKernel<FixedLengthRecordDataset>);
KERNEL(FixedLengthRecordDatasetV2, FunctionKernel<FixedLengthRecordDataset>);
KERNEL(RangeDataset, FunctionKernel<RangeDataset>);
KERNEL(TFRecordDataset, FunctionKernel<TfRecordDataset>);
KERNEL(TFRecordDatasetV2, FunctionKernel<TfRecordDataset>);
KERNEL(TensorDataset, FunctionKernel<TensorDataset>);
KERNEL(TensorSliceDataset, FunctionKernel<TensorSliceDataset>);
KERNEL(TextLineDataset, FunctionKernel<TextLineDataset>);

}  // namespace
}  // namespace sluice
