// Kernels of snapshots, which keep the elements of a dataset in files that later readings use.
#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/function/library.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/data/dataset.h"
#include "ops/data/dataset_function.h"
#include "ops/data/dataset_kernel.h"
#include "ops/pipeline/dataset_fingerprint.h"
#include "ops/pipeline/snapshot_folder.h"
#include "ops/strings/hash.h"

namespace sluice {
namespace {

using MadeDataset = absl::StatusOr<DatasetPointer>;

absl::StatusOr<uint64_t> FingerprintOfInput(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const FunctionLibrary library,
                          FunctionLibrary::Parse(c.node().graph()->function_library()));
  return DatasetFingerprint(c.input(0), library);
}

std::vector<DataType> ElementTypes(const KernelContext& c) {
  return c.node().AttrOr<std::vector<DataType>>("output_types", {});
}

std::string StringAttrOf(const KernelContext& c, std::string_view name) {
  return c.node().AttrOr<std::string>(name, "");
}

enum class SnapshotMode { kRead, kWrite, kPassThrough };

// Decides whether an iteration reads the snapshot, writes it or ignores it.
absl::StatusOr<SnapshotMode> ModeFor(const std::string& mode,
                                     const std::optional<SnapshotMetadata>& metadata,
                                     int64_t expiry_seconds) {
  if (mode == "read") {
    if (!metadata.has_value()) return absl::NotFoundError("Metadata file does not exist.");
    return SnapshotMode::kRead;
  }
  if (mode == "write") return SnapshotMode::kWrite;
  if (mode == "passthrough") return SnapshotMode::kPassThrough;
  if (!metadata.has_value()) return SnapshotMode::kWrite;
  if (metadata->finalized()) return SnapshotMode::kRead;
  // An unfinished snapshot that is not too old may still be being written by another program.
  const bool is_pending =
      (MicrosecondsSince1970() - metadata->creation_timestamp()) / 1000000 < expiry_seconds;
  return is_pending ? SnapshotMode::kPassThrough : SnapshotMode::kWrite;
}

// Returns a dataset that calls `iterate`, which looks at the files, only when its first element is
// read. TensorFlow does the same.
DatasetPointer Deferred(DatasetFacts facts,
                        std::function<absl::StatusOr<IteratorPointer>(Reading&)> iterate) {
  return MakeDataset(std::move(facts),
                     [iterate](Reading& reading) -> absl::StatusOr<IteratorPointer> {
                       return MakeIterator([iterate, &reading, inner = IteratorPointer()](
                                               Tensors* element) mutable -> absl::StatusOr<bool> {
                         if (inner == nullptr) {
                           SLUICE_ASSIGN_OR_RETURN(inner, iterate(reading));
                         }
                         return inner->Next(element);
                       });
                     });
}

// --- version 2

absl::StatusOr<IteratorPointer> ReadShards(const NewRun& snapshot, const SnapshotMetadata& metadata,
                                           const Closure& reader_func, Reading& reading) {
  ElementFormat format = snapshot.format;
  format.version = metadata.version();
  SLUICE_ASSIGN_OR_RETURN(
      const DatasetPointer shards,
      ShardsOfRun(JoinPath(snapshot.folder, metadata.run_id()), format, snapshot.types));
  return IterateMade(reader_func, {TensorOf(shards)}, reading);
}

MadeDataset SnapshotDatasetV2(const KernelContext& c, std::vector<Closure> functions) {
  SLUICE_ASSIGN_OR_RETURN(const DatasetPointer input, DatasetIn(c.input(0)));
  SLUICE_ASSIGN_OR_RETURN(const auto path, ScalarInput<std::string>(c, "path"));
  NewRun snapshot{.shard_of = ScalarFunction(functions[1], "shard_func"), .types = ElementTypes(c)};
  std::string compression = StringAttrOf(c, "compression");
  if (compression == "AUTO") compression = "SNAPPY";
  SLUICE_ASSIGN_OR_RETURN(snapshot.format.compression, FileCompressionFromName(compression));
  auto hash = static_cast<uint64_t>(c.node().AttrOr<int64_t>("hash", 0));
  if (!c.node().AttrOr<bool>("hash_valid", false)) {
    SLUICE_ASSIGN_OR_RETURN(hash, FingerprintOfInput(c));
  }
  snapshot.metadata.set_graph_hash(StrCat(hash));
  snapshot.folder = JoinPath(path, snapshot.metadata.graph_hash());
  const auto iterate = [input, snapshot, reader_func = functions[0]](
                           Reading& reading) -> absl::StatusOr<IteratorPointer> {
    SLUICE_ASSIGN_OR_RETURN(const auto metadata, ReadSnapshotMetadata(snapshot.folder));
    if (metadata.has_value() && metadata->finalized()) {
      return ReadShards(snapshot, *metadata, reader_func, reading);
    }
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer inner, input->Iterate(reading));
    return WriteRun(snapshot, std::move(inner), reading);
  };
  return Deferred(input->facts(), iterate);
}

// --- version 1

struct Snapshot {
  std::string folder, mode, run;  // if `run` is empty, each writing has a new run
  std::string reader_prefix, writer_prefix;
  ElementFormat format{.version = 1};
  std::vector<DataType> types;
  int64_t file_bytes = 0, expiry_seconds = 0;
  bool shuffles = false;
  int64_t seed = 0;
};

// Returns the elements and writes them to files. Reads one element ahead, so that the snapshot is
// complete when the last element is taken.
class OldSnapshotWriter : public DatasetIterator {
 public:
  OldSnapshotWriter(Snapshot snapshot, IteratorPointer inner)
      : snapshot_(std::move(snapshot)), inner_(std::move(inner)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    if (!std::exchange(has_begun_, true)) {
      SLUICE_RETURN_IF_ERROR(Begin());
      SLUICE_RETURN_IF_ERROR(ReadAhead());
    }
    if (!ahead_.has_value()) return false;
    *element = *std::exchange(ahead_, std::nullopt);
    SLUICE_RETURN_IF_ERROR(ReadAhead());
    return true;
  }

 private:
  absl::Status Begin() {
    if (snapshot_.run.empty()) snapshot_.run = absl::StrFormat("%x", NewRunId());
    metadata_.set_run_id(snapshot_.run);
    metadata_.set_graph_hash(BaseNameOf(snapshot_.folder));
    run_ = JoinPath(JoinPath(snapshot_.writer_prefix, snapshot_.folder), snapshot_.run);
    SLUICE_RETURN_IF_ERROR(
        BeginRun(snapshot_.folder, run_, snapshot_.format.version, snapshot_.types, &metadata_));
    return NextFile();
  }
  absl::Status NextFile() {
    SLUICE_ASSIGN_OR_RETURN(
        writer_, ElementWriter::Create(SnapshotFileName(run_, num_files_++), snapshot_.format));
    bytes_ = 0;
    return absl::OkStatus();
  }
  absl::Status ReadAhead() {
    Tensors element;
    SLUICE_ASSIGN_OR_RETURN(const bool any, inner_->Next(&element));
    if (!any) {
      SLUICE_RETURN_IF_ERROR(writer_->Close());
      return EndRun(snapshot_.folder, &metadata_);
    }
    for (const Tensor& t : element) bytes_ += static_cast<int64_t>(t.bytes());
    if (bytes_ > snapshot_.file_bytes) {
      SLUICE_RETURN_IF_ERROR(writer_->Close());
      SLUICE_RETURN_IF_ERROR(NextFile());
    }
    SLUICE_RETURN_IF_ERROR(writer_->Write(element));
    ahead_ = std::move(element);
    return absl::OkStatus();
  }

  Snapshot snapshot_;
  const IteratorPointer inner_;
  SnapshotMetadata metadata_;
  std::string run_;  // the folder of the run
  std::unique_ptr<ElementWriter> writer_;
  uint64_t num_files_ = 0;
  int64_t bytes_ = 0;  // size of the elements in the current file
  std::optional<Tensors> ahead_;
  bool has_begun_ = false;
};

absl::Status CheckTypes(const SnapshotMetadata& metadata, const std::vector<DataType>& types) {
  if (static_cast<size_t>(metadata.dtype_size()) != types.size()) {
    return absl::InternalError(StrCat("Expected number of dtypes: ", types.size(),
                                      " but number in snapshot: ", metadata.dtype_size()));
  }
  for (int i = 0; i < metadata.dtype_size(); ++i) {
    const auto type = static_cast<DataType>(metadata.dtype(i));
    if (type == types[static_cast<size_t>(i)]) continue;
    return absl::InternalError(StrCat("Type: ", i, " doesn't match. Snapshot: ", DataTypeName(type),
                                      "; dataset: ", DataTypeName(types[static_cast<size_t>(i)])));
  }
  return absl::OkStatus();
}

// Reads the files, one after the other.
absl::StatusOr<IteratorPointer> ReadFiles(const Snapshot& snapshot,
                                          const SnapshotMetadata& metadata) {
  std::string run = snapshot.run;
  if (run.empty()) run = metadata.run_id();
  if (run.empty()) return absl::NotFoundError("Could not find a valid snapshot to read.");
  SLUICE_RETURN_IF_ERROR(CheckTypes(metadata, snapshot.types));
  const std::string folder = JoinPath(snapshot.folder, run);
  SLUICE_ASSIGN_OR_RETURN(std::vector<std::string> files,
                          MatchFiles(JoinPath(EscapePattern(folder), "*")));
  if (files.empty()) {
    return absl::NotFoundError(StrCat("Could not find any files in dir: ", folder));
  }
  if (snapshot.shuffles) {
    std::mt19937 random(snapshot.seed != 0 ? static_cast<uint64_t>(snapshot.seed) : NewRunId());
    std::shuffle(files.begin(), files.end(), random);
  }
  ElementFormat format = snapshot.format;
  format.version = metadata.version();
  return MakeIterator([=, types = snapshot.types, prefix = snapshot.reader_prefix, next = size_t{0},
                       reader = std::shared_ptr<ElementReader>()](
                          Tensors* element) mutable -> absl::StatusOr<bool> {
    while (true) {
      if (reader == nullptr) {
        if (next == files.size()) return false;
        SLUICE_ASSIGN_OR_RETURN(
            reader, ElementReader::Open(JoinPath(prefix, files[next++]), format, types));
      }
      const absl::StatusOr<bool> any = reader->Next(element);
      if (any.ok() && *any) return any;
      reader = nullptr;
      if (!any.ok()) return any.status();
    }
  });
}

absl::StatusOr<Snapshot> SnapshotOf(const KernelContext& c) {
  Snapshot s{.mode = StringAttrOf(c, "mode"), .types = ElementTypes(c)};
  const std::string compression = StringAttrOf(c, "compression");
  SLUICE_INVALID_IF(!compression.empty() && compression != "GZIP" && compression != "SNAPPY",
                    "compression must be either '', 'GZIP' or 'SNAPPY'.");
  SLUICE_ASSIGN_OR_RETURN(s.format.compression, FileCompressionFromName(compression));
  const auto number = [&](const char* name, int64_t otherwise) {
    const auto n = c.node().AttrOr<int64_t>(name, otherwise);
    return n == -1 ? otherwise : n;
  };
  s.file_bytes = number("shard_size_bytes", int64_t{10} << 30);
  s.expiry_seconds = number("pending_snapshot_expiry_seconds", 86400);
  SLUICE_INVALID_IF(s.expiry_seconds < 1,
                    "pending_snapshot_expiry_seconds must be at least 1 second.");
  SLUICE_INVALID_IF(
      s.mode != "auto" && s.mode != "read" && s.mode != "write" && s.mode != "passthrough",
      "mode must be either 'auto', 'read', 'write', or 'passthrough'.");
  s.shuffles = c.node().AttrOr<bool>("shuffle_on_read", false);
  s.seed = static_cast<int64_t>(static_cast<uint64_t>(c.node().AttrOr<int64_t>("seed", 0)) +
                                static_cast<uint64_t>(c.node().AttrOr<int64_t>("seed2", 0)));
  s.reader_prefix = StringAttrOf(c, "reader_path_prefix");
  s.writer_prefix = StringAttrOf(c, "writer_path_prefix");
  SLUICE_ASSIGN_OR_RETURN(const auto path, ScalarInput<std::string>(c, "path"));
  const std::string name = StringAttrOf(c, "snapshot_name");
  if (!name.empty()) {
    s.run = "custom";
    s.folder = JoinPath(path, StrCat("custom-", name));
    return s;
  }
  SLUICE_ASSIGN_OR_RETURN(const uint64_t input, FingerprintOfInput(c));
  const std::string all = StrCat(input, "\n", path, "\n", compression, "\n", s.reader_prefix, "\n",
                                 s.writer_prefix, "\n", s.file_bytes);
  s.folder = JoinPath(path, absl::StrFormat("%016x", Fingerprint64(all)));
  return s;
}

MadeDataset SnapshotDataset(const KernelContext& c, const DatasetPointer& input) {
  SLUICE_ASSIGN_OR_RETURN(const Snapshot snapshot, SnapshotOf(c));
  const auto iterate = [input, snapshot](Reading& reading) -> absl::StatusOr<IteratorPointer> {
    SLUICE_ASSIGN_OR_RETURN(const auto metadata, ReadSnapshotMetadata(snapshot.folder));
    SLUICE_ASSIGN_OR_RETURN(const SnapshotMode mode,
                            ModeFor(snapshot.mode, metadata, snapshot.expiry_seconds));
    if (mode == SnapshotMode::kRead) return ReadFiles(snapshot, *metadata);
    SLUICE_ASSIGN_OR_RETURN(IteratorPointer inner, input->Iterate(reading));
    if (mode == SnapshotMode::kPassThrough) return inner;
    return std::make_unique<OldSnapshotWriter>(snapshot, std::move(inner));
  };
  return Deferred(input->facts(), iterate);
}

// --- parts

absl::Status FingerprintOp(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(DatasetIn(c.input(0)).status());
  SLUICE_ASSIGN_OR_RETURN(const uint64_t fingerprint, FingerprintOfInput(c));
  return SetScalarOutput(c, fingerprint);
}

MadeDataset SnapshotDatasetReader(const KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const auto folder, ScalarInput<std::string>(c, "shard_dir"));
  SLUICE_ASSIGN_OR_RETURN(const auto start, ScalarInput<int64_t>(c, "start_index"));
  ElementFormat format{.version = c.node().AttrOr<int64_t>("version", 2)};
  SLUICE_ASSIGN_OR_RETURN(format.compression,
                          FileCompressionFromName(StringAttrOf(c, "compression")));
  return ShardDataset(folder, format, ElementTypes(c), std::max<int64_t>(start, 0));
}

KERNEL(DatasetFingerprint, FunctionKernel<FingerprintOp>);
KERNEL(SnapshotDataset, DatasetKernel<SnapshotDataset>);
KERNEL(SnapshotDatasetReader, DatasetKernel<SnapshotDatasetReader>);
KERNEL(SnapshotDatasetV2, FunctionDatasetKernel<SnapshotDatasetV2>);

}  // namespace
}  // namespace sluice
