// Datasets of files and their records. A file is opened when its records are read.
#include <utility>

#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_kernel.h"
#include "ops/io/byte_source.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;

// Lists the files that match the patterns, one pattern after the other.
class MatchingFilesIterator : public DatasetIterator {
 public:
  explicit MatchingFilesIterator(std::vector<std::string> patterns)
      : patterns_(std::move(patterns)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    while (at_ == found_.size()) {
      if (next_pattern_ == patterns_.size()) {
        if (has_match_) return false;
        return absl::NotFoundError("Don't find any matched files");
      }
      SLUICE_RETURN_IF_ERROR(Match(patterns_[next_pattern_]));
      ++next_pattern_;
    }
    has_match_ = true;
    *element = {Tensor::Scalar(std::move(found_[at_++]))};
    return true;
  }

 private:
  absl::Status Match(const std::string& pattern) {
    const std::string fixed = pattern.substr(0, pattern.find_first_of("*?[\\"));
    const bool has_folder = fixed.find('/') != std::string::npos;
    const std::string folder = has_folder ? DirectoryOf(fixed) : ".";
    SLUICE_RETURN_IF_ERROR(FileSystemOf(pattern).status());
    if (!FileExists(folder)) {
      return absl::NotFoundError(StrCat(folder, "; No such file or directory"));
    }
    SLUICE_ASSIGN_OR_RETURN(found_, MatchFiles(has_folder ? pattern : JoinPath(folder, pattern)));
    std::erase_if(found_, IsDirectory);
    at_ = 0;
    return absl::OkStatus();
  }

  const std::vector<std::string> patterns_;
  size_t next_pattern_ = 0;
  std::vector<std::string> found_;  // files of the last pattern
  size_t at_ = 0;                   // index in found_
  bool has_match_ = false;
};

MadeDataset MatchingFilesDataset(const KernelContext& c) {
  const auto patterns = c.input(0).flat<std::string>();
  const std::vector<std::string> all(patterns.begin(), patterns.end());
  return MakeDataset({}, [all](Reading&) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<MatchingFilesIterator>(all);
  });
}

// --- records

// Reads the next record of an open file. Returns false at the end.
using ReadRecord = std::function<absl::StatusOr<bool>(std::string*)>;
using OpenRecords =
    std::function<absl::StatusOr<ReadRecord>(std::unique_ptr<ByteSource>, const std::string&)>;

struct FileSet {
  std::vector<std::string> names;
  StreamCompression compression;
  std::vector<int64_t> offsets;  // where the records of each file begin. If empty, at 0
};

absl::StatusOr<FileSet> FilesOf(const KernelContext& c) {
  const Tensor& names = c.input(0);
  std::string compression;
  if (HasInput(c, "compression_type")) {
    SLUICE_ASSIGN_OR_RETURN(compression, ScalarInput<std::string>(c, "compression_type"));
  }
  SLUICE_INVALID_IF(names.rank() > 1, "`filenames` must be a scalar or a vector.");
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
  ReadRecord read_;  // of the open file, null if none is open
};

DatasetPointer RecordsOf(FileSet files, OpenRecords open) {
  return MakeDataset({}, [=](Reading&) -> absl::StatusOr<IteratorPointer> {
    return std::make_unique<RecordsIterator>(files, open);
  });
}

MadeDataset TextLineDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c));
  const auto open = [](std::unique_ptr<ByteSource> file,
                       const std::string&) -> absl::StatusOr<ReadRecord> {
    return [source = std::shared_ptr<ByteSource>(std::move(file))](std::string* line) {
      return source->ReadLine(line);
    };
  };
  return RecordsOf(std::move(files), open);
}

// Reads input byte_offsets of the op's second version, which has an offset per file or is empty.
absl::Status SetOffsets(const KernelContext& c, FileSet* files) {
  const Tensor& offsets = c.input(InputIndex(c, "byte_offsets"));
  SLUICE_INVALID_IF(offsets.rank() > 1, "`byte_offsets` must be a scalar or a vector.");
  const auto all = offsets.flat<int64_t>();
  SLUICE_INVALID_IF(!all.empty() && all.size() != files->names.size(),
                    "`byte_offsets` must be of same size as `filenames`");
  for (int64_t offset : all) {
    SLUICE_INVALID_IF(offset < 0, "`byte_offsets` must be >= 0, got ", offset);
  }
  files->offsets.assign(all.begin(), all.end());
  return absl::OkStatus();
}

MadeDataset TfRecordDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c));
  if (HasInput(c, "byte_offsets")) SLUICE_RETURN_IF_ERROR(SetOffsets(c, &files));
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
  return RecordsOf(std::move(files), open);
}

// Opens a file of records of equal length, by reading all of it. INVALID_ARGUMENT if the number of
// bytes between header and footer is not a multiple of the length.
absl::StatusOr<ReadRecord> OpenFixed(std::unique_ptr<ByteSource> file, const std::string& name,
                                     int64_t header, int64_t record, int64_t footer) {
  auto contents = std::make_shared<std::string>();
  SLUICE_RETURN_IF_ERROR(file->ReadAll(contents.get()));
  const auto size = static_cast<int64_t>(contents->size());
  const int64_t body = size - SaturatedSum(header, footer);
  SLUICE_INVALID_IF(
      body < 0 || body % record != 0, "Excluding the header (", header, " bytes) and footer (",
      footer, " bytes), input file \"", name, "\" has body length ", body,
      " bytes, which is not an exact multiple of the record length (", record, " bytes).");
  return [contents, at = header, end = header + body,
          record](std::string* out) mutable -> absl::StatusOr<bool> {
    if (at == end) return false;
    *out = contents->substr(static_cast<size_t>(at), static_cast<size_t>(record));
    at += record;
    return true;
  };
}

MadeDataset FixedLengthRecordDataset(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto header, ScalarInput<int64_t>(c, "header_bytes"));
  SLUICE_ASSIGN_OR_RETURN(const auto record, ScalarInput<int64_t>(c, "record_bytes"));
  SLUICE_ASSIGN_OR_RETURN(const auto footer, ScalarInput<int64_t>(c, "footer_bytes"));
  SLUICE_INVALID_IF(header < 0, "`header_bytes` must be >= 0.");
  SLUICE_INVALID_IF(record <= 0, "`record_bytes` must be > 0");
  SLUICE_INVALID_IF(footer < 0, "`footer_bytes` must be >= 0");
  SLUICE_ASSIGN_OR_RETURN(FileSet files, FilesOf(c));
  const auto open = [=](std::unique_ptr<ByteSource> file, const std::string& name) {
    return OpenFixed(std::move(file), name, header, record, footer);
  };
  return RecordsOf(std::move(files), open);
}

KERNEL(ExperimentalMatchingFilesDataset, DatasetKernel<MatchingFilesDataset>);
KERNEL(FixedLengthRecordDataset, DatasetKernel<FixedLengthRecordDataset>);
KERNEL(FixedLengthRecordDatasetV2, DatasetKernel<FixedLengthRecordDataset>);
KERNEL(MatchingFilesDataset, DatasetKernel<MatchingFilesDataset>);
KERNEL(TFRecordDataset, DatasetKernel<TfRecordDataset>);
KERNEL(TFRecordDatasetV2, DatasetKernel<TfRecordDataset>);
KERNEL(TextLineDataset, DatasetKernel<TextLineDataset>);

}  // namespace
}  // namespace sluice
