// Datasets that begin a pipeline. Files are opened when they are read.
#include <utility>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/dataflow/rows.h"
#include "ops/io/byte_source.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

Tensors InputsOf(const KernelContext& c) {
  Tensors inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
  return inputs;
}

absl::Status TensorDataset(KernelContext& c) {
  c.set_output(
      0,
      TensorOf(MakeDataset([components = InputsOf(c)](Reading&) -> absl::StatusOr<IteratorPointer> {
        return MakeIterator(
            [components, done = false](Tensors* element) mutable -> absl::StatusOr<bool> {
              if (std::exchange(done, true)) return false;
              *element = components;
              return true;
            });
      })));
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
  const auto iterate = [components](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator(
        [components, row = int64_t{0}](Tensors* element) mutable -> absl::StatusOr<bool> {
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
  c.set_output(0, TensorOf(MakeDataset(iterate)));
  return absl::OkStatus();
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
  const auto iterate = [=](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([=, next = start](Tensors* element) mutable -> absl::StatusOr<bool> {
      if (step > 0 ? next >= stop : next <= stop) return false;
      *element = {type == DT_INT64 ? Tensor::Scalar<int64_t>(next)
                                   : Tensor::Scalar<int32_t>(static_cast<int32_t>(next))};
      if (__builtin_add_overflow(next, step, &next)) next = stop;
      return true;
    });
  };
  c.set_output(0, TensorOf(MakeDataset(iterate)));
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
};

absl::StatusOr<FileSet> FilesOf(const KernelContext& c, const std::string& compression) {
  const Tensor& names = c.input(0);
  if (names.rank() > 1) return InvalidArgument("`filenames` must be a scalar or a vector.");
  SLUICE_ASSIGN_OR_RETURN(const StreamCompression kind, CompressionFromName(compression));
  const auto all = names.flat<std::string>();
  return FileSet{.names = {all.begin(), all.end()}, .compression = kind};
}

DatasetPointer RecordsOf(FileSet files, OpenRecords open) {
  return MakeDataset([files = std::move(files),
                      open = std::move(open)](Reading&) -> absl::StatusOr<IteratorPointer> {
    return MakeIterator([files, open, next = size_t{0},
                         read = ReadRecord()](Tensors* element) mutable -> absl::StatusOr<bool> {
      while (true) {
        if (read == nullptr) {
          if (next == files.names.size()) return false;
          const std::string& name = files.names[next++];
          SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(name));
          SLUICE_ASSIGN_OR_RETURN(read, open(Unpack(std::move(file), files.compression), name));
        }
        std::string record;
        const absl::StatusOr<bool> any = read(&record);
        if (!any.ok() || !*any) read = nullptr;
        if (!any.ok()) return any.status();
        if (!*any) continue;
        *element = {Tensor::Scalar(std::move(record))};
        return true;
      }
    });
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

absl::Status TfRecordDataset(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto compression,
                          ScalarInput<std::string>(c, 1, "compression_type"));
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c, compression));
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
  const int64_t body = size - header - footer;
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
KERNEL(TensorDataset, FunctionKernel<TensorDataset>);
KERNEL(TensorSliceDataset, FunctionKernel<TensorSliceDataset>);
KERNEL(TextLineDataset, FunctionKernel<TextLineDataset>);

}  // namespace
}  // namespace sluice
